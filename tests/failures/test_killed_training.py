"""`cardlab train`, killed with -9 at any moment and any number of times, ends as if nothing had happened."""

import json
import random
import re
import shutil
import signal
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from cardlab.tracking import Store
from failures.children import Child

TRAIN = [
    "train", "name=squares", "game=poker_squares", "agent=td", "agent.decisions_per_iteration=512",
    "network=mlp", "network.widths=[16]",
    "trainer=smoke", "trainer.decisions=6144", "trainer.parallel_games=16", "trainer.evaluations=3",
    "trainer.evaluation_deals=4", "trainer.snapshots=2",
]  # fmt: skip
ROUNDS = 12
KILLS = 2  # trainings that are killed at random moments
CHANGING = ("usage/cpu_seconds", "usage/decisions_per_second", "usage/peak_memory_mb")  # not a function of the seed


@dataclass(frozen=True, repr=False)
class Outcome:
    """What a training leaves, as far as the seed decides it."""

    policy: dict[str, bytes]
    curve: str
    metrics: dict[str, list[tuple[int, float]]]
    params: dict[str, str]
    artifacts: set[str]
    models: dict[str, list[tuple[str, int, float]]]  # with their scores
    operations: int = field(default=0, compare=False)  # on files of the project


def outcome(root: Path) -> Outcome:
    """The only run of the store at `root`, and its files."""
    store = Store(f"sqlite:///{root}/mlflow.db", root)
    runs = store.client.search_runs([store.experiment_id("poker_squares")])
    assert [run.info.status for run in runs] == ["FINISHED"], "one run, and no other is left behind"
    run = runs[0]
    histories = {
        name: sorted((metric.step, metric.value) for metric in store.client.get_metric_history(run.info.run_id, name))
        for name in run.data.metrics
    }
    for name in CHANGING:
        steps = [step for step, _ in histories.pop(name)]
        assert len(set(steps)) == len(steps) == ROUNDS
    folder = next((root / "runs" / "squares").iterdir())
    kept = [path for name in ("policy", "snapshots") for path in (folder / name).rglob("*") if path.is_file()]
    policy = {str(path.relative_to(folder)): path.read_bytes() for path in kept}
    assert sorted(path.name for path in folder.iterdir()) == [
        "config.json",
        "curve.csv",
        "finished.ckpt",
        "lock",
        "policy",
        "snapshots",
        "training",
        "training.json",
    ]
    artifacts = {file.path for file in store.client.list_artifacts(run.info.run_id)}
    found = store.client.search_logged_models([run.info.experiment_id])
    assert {model.status for model in found} == {"READY"}
    assert len({model.name for model in found}) == len(found) == 3, "the policy and two snapshots, each once"
    assert sorted(model.model_id for model in found) == sorted(each.model_id for each in run.outputs.model_outputs)
    models = {model.name: sorted((row.key, row.step, row.value) for row in model.metrics or ()) for model in found}
    return Outcome(policy, (folder / "curve.csv").read_text(), histories, run.data.params, artifacts, models)


@pytest.fixture(scope="module")
def undisturbed(fresh_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """What a training leaves that nothing happened to."""
    root = project(fresh_database, tmp_path_factory.mktemp("undisturbed"))
    child = Child(root, [*TRAIN, "trainer.checkpoint_seconds=0"], log=root.parent / "log")
    assert child.wait() == 0, child.log.read_text()
    counted = re.search(r"^file operations: (\d+)$", child.log.read_text(), re.MULTILINE)
    assert counted is not None
    left = outcome(root)
    del left.params["trainer.checkpoint_seconds"]
    return replace(left, operations=int(counted[1]))


def project(database: Path, folder: Path) -> Path:
    root = folder / "project"
    root.mkdir()
    shutil.copyfile(database, root / "mlflow.db")
    return root


OPERATIONS = 190  # on files, of an undisturbed training until it removes run.json


@pytest.mark.slow
def test_killed_at_random_moments(fresh_database: Path, undisturbed: Outcome, tmp_path: Path, kill: int) -> None:
    """Before some operation on files, so that each gap between two may be hit, or after some CPU time."""
    chance = random.Random(kill)
    moments = [
        chance.randrange(OPERATIONS) if chance.random() < 0.5 else chance.uniform(0.05, 1.5)
        for _ in range(chance.randint(1, 3))
    ]
    seconds = chance.choice([0, 0, 60])
    kill_and_go_on(project(fresh_database, tmp_path), moments, undisturbed, seconds=seconds, by_id=kill % 2 == 0)


@pytest.mark.parametrize(
    "moments",
    [
        pytest.param([13, 40, 70], id="begun, at work, at work"),
        pytest.param([-16, -4], id="trained, not yet recorded as finished", marks=pytest.mark.slow),
        pytest.param([-3], id="finished, run.json not yet removed", marks=pytest.mark.slow),
    ],
)
def test_killed_at_these_moments(
    fresh_database: Path, undisturbed: Outcome, tmp_path: Path, moments: list[float]
) -> None:
    root = project(fresh_database, tmp_path)
    told = kill_and_go_on(root, moments, undisturbed, by_id=True)
    assert "resuming after iteration" in told


def kill_and_go_on(
    root: Path,
    moments: list[float],
    undisturbed: Outcome,
    *,
    seconds: int = 0,
    by_id: bool = False,
) -> str:
    """Train with a kill at each moment, then to the end, and compare; what the processes said."""
    arguments, log = [*TRAIN, f"trainer.checkpoint_seconds={seconds}"], root.parent / "log"
    for moment in moments:
        code = Child(root, arguments, log=log, kill_at=moment % undisturbed.operations).wait()
        if code == 0:
            break
        assert code in (-signal.SIGKILL, -signal.SIGPROF), log.read_text()
    else:
        begun = unfinished(root)
        child = Child(root, ["train", f"resume={begun}"] if by_id and begun else arguments, log=log)
        assert child.wait() == 0, log.read_text()
    left = outcome(root)
    assert left.params.pop("trainer.checkpoint_seconds") == str(seconds)
    assert left == undisturbed
    return log.read_text()


def unfinished(root: Path) -> str | None:
    """The beginning of the id of the run that was cut off, if it is known already."""
    memories = list(root.glob("runs/squares/*/run.json"))
    run_id = json.loads(memories[0].read_text())["run_id"] if memories else None
    return run_id and run_id[:8]
