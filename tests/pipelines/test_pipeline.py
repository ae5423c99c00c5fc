"""`dvc repro` and `dvc exp run` on a tiny benchmark, as a user runs them. What each test is for stands in DESIGN §5."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from omegaconf import OmegaConf

from cardlab.tracking import Store
from failures.test_killed_matches import workers

pytestmark = pytest.mark.slow

NAMES = ("squares", "duel")
SEEDS = {"squares": ["seed_7"], "duel": ["seed_7", "seed_8"]}
PICTURES = {"calibration", "game_lengths", "snapshot_scores", "snapshot_table"}
STAGES = ("train", "evaluate")
Clone = Any  # of conftest.py, which cannot be imported
Snapshot = Callable[[], dict[str, bytes]]


def store_of(clone: Clone) -> Store:
    return Store(f"sqlite:///{clone.root}/mlflow.db", clone.root)


def runs(clone: Clone, experiment: str, condition: str = "") -> list[Any]:
    store = store_of(clone)
    number = store.experiment_id(experiment)
    return store.client.search_runs([number], condition, order_by=["start_time"])


def timeless(report: bytes) -> bytes:
    """Without the cost of this training."""
    return re.sub(rb'<td class="number">[\d.]+</td>', b"", report)


def test_all_that_is_promised_is_there(finished: Clone) -> None:
    report = (finished.root / "report" / "index.html").read_text()
    assert finished.git("rev-parse", "HEAD~1").strip() not in report, "a commit would change it at each training"
    params: Any = OmegaConf.to_container(OmegaConf.load(finished.root / "params.yaml"))
    for name, first in {"squares": ["self"], "duel": []}.items():
        references = [*first, *params["experiments"][name]["arena"]["references"]]
        evaluation = json.loads((finished.root / "results" / name / "evaluation.json").read_text())
        assert list(evaluation["references"]) == references
        assert all(row["low"] <= row["mean"] <= row["high"] for row in evaluation["references"].values())
        header, *points = (finished.root / "results" / name / "curve.csv").read_text().splitlines()
        assert header.startswith("iteration,decisions,")
        assert len(points) == 2
        kept = sorted((finished.root / "snapshots" / name).iterdir(), key=lambda path: int(path.name))
        assert len(kept) == 2
        models = sorted((finished.root / "models" / name).iterdir())
        assert [model.name for model in models] == SEEDS[name]
        for policy in (*models, *kept):
            assert {path.name for path in policy.iterdir()} == {"policy.json", "weights.safetensors"}
        past = json.loads((finished.root / "results" / name / "snapshot_matches.json").read_text())
        assert past["digests"][-1] == evaluation["policy_digest"]
        assert [pair[:2] for pair in past["margins"]] == [[1, 0]]
        assert len((finished.root / "results" / name / "snapshot_scores.csv").read_text().splitlines()) == 3
        assert evaluation["policy_digest"] in report
    for experiment, name in {"poker_squares": "squares", "thirty_one": "duel"}.items():
        training = runs(finished, experiment, "tags.kind = 'training' and tags.seed = '7'")[0]
        (evaluation,) = runs(finished, experiment, "tags.kind = 'evaluation'")
        (group,) = runs(finished, experiment, "tags.kind = 'seeds'")
        assert group.data.tags["seeds"] == ",".join(seed[len("seed_") :] for seed in SEEDS[name])
        assert training.data.tags["mlflow.parentRunId"] == group.info.run_id
        assert group.data.metrics["score/evaluation"] == evaluation.data.metrics["score/evaluation"]
        artifacts = store_of(finished).client.list_artifacts(evaluation.info.run_id, "figures")
        assert {Path(file.path).stem for file in artifacts} == PICTURES
        assert {training.data.tags["experiment"], evaluation.data.tags["experiment"]} == {name}
        assert evaluation.data.tags["training_run"] == training.info.run_id
        assert "score/evaluation" in training.data.metrics
        assert {training.info.status, evaluation.info.status} == {"FINISHED"}
        assert training.data.tags["dvc.stage"] == f"train@{name}"
        assert training.data.tags["policy.digest"] in evaluation.data.tags["policy.digest"].split()
        assert len(evaluation.data.tags["policy.digest"].split()) == len(SEEDS[name])
        assert training.data.tags["git.dirty"] == "false"
        assert training.data.params["trainer.decisions"] == "16000"


def test_large_outputs_stay_out_of_git_and_figures_are_in(finished: Clone) -> None:
    tracked = set(finished.git("ls-files").splitlines())
    assert {"dvc.lock", "params.yaml", "results/duel/evaluation.json", "results/squares/evaluation.json"} <= tracked
    assert not [
        path
        for path in tracked
        if path.startswith(("models/", "snapshots/", "report/", "runs/", "mlflow.db", "mlartifacts"))
    ]
    assert "results/duel/curve.csv" not in tracked
    assert not list(finished.root.glob("results/**/.gitignore"))  # would be part of the report's dependency
    assert finished.git("status", "--porcelain") == ""


REFUSED = {
    "experiments.duel.agent.gamma=1.9": "experiments.duel.agent.gamma=1.9: must be a number in [0, 1]",
    "experiments.duel.agent.gama=0.9": "did you mean experiments.duel.agent.gamma?",
    "experiments.duel.trainer.decisions=many": "experiments.duel.trainer.decisions=many: must be a whole number",
}


def test_a_second_repro_does_nothing_after_wrong_values_too(clone: Clone, outputs: Snapshot) -> None:
    """`dvc exp run` refuses a wrong value before it changes a file."""
    before = outputs()
    (override, message), *_ = tried = REFUSED.items()
    ways = [*(([], *wrong) for wrong in tried), (["--queue"], override, message), (["--temp"], override, message)]
    for how, override, message in ways:
        output = clone.dvc("exp", "run", *how, "-S", override, check=False)
        assert message in output
        assert len([line for line in output.splitlines() if "error" in line]) == 1
        assert "Traceback" not in output
        assert clone.git("status", "--porcelain") == ""
    for folder in ("src/cardlab/games", "src/cardlab/games/thirty_one", "src/cardlab/experiments/report"):
        compiled = clone.root / folder / "__pycache__" / "rules.cpython-311.pyc"  # as python and numba leave them
        compiled.parent.mkdir(exist_ok=True)
        compiled.write_bytes(b"compiled")
    began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime  # what other programs take does not count
    output = clone.dvc("repro")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - began < 30
    assert "Running stage" not in output
    assert outputs() == before


def test_an_edit_of_params_is_not_lost(clone: Clone) -> None:
    """`dvc exp run` composes params.yaml again."""
    params = clone.root / "params.yaml"
    committed = params.read_text()
    params.write_text(edited := committed.replace("\nseed: 7", "\nseed: 11"))
    output = clone.dvc("exp", "run", "code", check=False)
    assert "params.yaml was edited at seed, and `dvc exp run` writes it again from conf/" in output
    assert "Traceback" not in output
    assert params.read_text() == edited
    clone.git("checkout", "params.yaml")


def test_an_edit_that_decides_nothing_reruns_no_stage_but_code(clone: Clone, outputs: Snapshot) -> None:
    before = outputs()
    _edit_what_decides_nothing(clone)
    assert clone.stages() == {"code"}
    output = clone.dvc("repro")
    assert re.findall("Running stage '(.*)'", output) == ["code"]
    after = outputs()
    for files in (before, after):
        del files["dvc.lock"]  # has the digest of src/
    assert after == before


def _edit_what_decides_nothing(clone: Clone) -> None:
    """A docstring, a comment, tracking and the web table."""
    source = clone.root / "src" / "cardlab"
    for name in ("learners/dqn/learner.py", "training/run.py"):
        path = source / name
        path.write_text(path.read_text().replace('"""', '"""Another text. ', 1) + "\n# a comment\n")
    for name in ("tracking/run.py", "../cardlab_play/table.py"):
        path = source / name
        path.write_text(path.read_text() + "\nEDITED = 1\n")


def test_an_edit_reruns_what_uses_it(clone: Clone) -> None:
    """What each edit alone makes stale: tests/pipelines/test_code_digests.py."""
    source = clone.root / "src" / "cardlab"
    expected = {
        ("games/poker_squares/rules.py", "learners/dqn/learner.py", "learners/ppo/learner.py"): {
            *(f"{stage}@{name}" for stage in STAGES for name in NAMES), "tournaments",  # how a policy plays counts, too
        },
        ("evaluation/evaluate.py", "experiments/report/ranking.py"): {
            *(f"evaluate@{name}" for name in NAMES), "report",
        },
    }  # fmt: skip
    for names, stages in expected.items():
        texts = {path: path.read_text() for path in (source / name for name in names)}
        for path, text in texts.items():
            path.write_text(text + "\nassert True\n")
        clone.dvc("repro", "code")
        changed = json.loads(clone.dvc("status", "--json"))
        for path, text in texts.items():
            path.write_text(text)
        direct = {stage for stage, entries in changed.items() if ":" not in stage and "code.json" in str(entries)}
        assert direct == stages, names


def test_parameters_rerun_what_they_belong_to(clone: Clone) -> None:
    params = clone.root / "params.yaml"
    text = params.read_text()
    squares, duel = text.split("  duel:\n")
    params.write_text(squares + "  duel:\n" + duel.replace("deals: 20\n", "deals: 22\n"))
    assert _direct(clone) == {"evaluate@duel", "tournaments", "report"}
    params.write_text(squares.replace("seed: 7", "seed: 8") + "  duel:\n" + duel)
    assert _direct(clone) == {"train@squares", "tournaments", "report"}


def _direct(clone: Clone) -> set[str]:
    """Stages of the benchmark whose parameters have changed; the others stand in files of their own, FILE:STAGE."""
    changed = json.loads(clone.dvc("status", "--json"))
    touched = {stage for stage, entries in changed.items() if any("params.yaml" in str(entry) for entry in entries)}
    return {stage for stage in touched if ":" not in stage and stage != "code"}


def test_an_experiment_retrains_only_what_it_varies(clone: Clone) -> None:
    values = [
        "agent@experiments.duel.agent=ppo",
        "experiments.duel.agent.learning_rate=1e-5",
        "experiments.duel.seeds=1",
    ]
    arguments = [word for value in values for word in ("-S", value)]
    output = clone.dvc("exp", "run", "-n", "brown-cow", *arguments)
    assert "Running stage 'train@duel'" in output
    assert "Stage 'train@squares' didn't change" in output
    training = runs(clone, "thirty_one", "tags.`dvc.experiment` = 'brown-cow' and tags.kind = 'training'")[0]
    assert training.data.params["agent.name"] == "ppo"
    assert float(training.data.params["agent.learning_rate"]) == 1e-5
    assert training.data.tags["dvc.baseline"] == clone.git("rev-parse", "HEAD").strip()
    shown = clone.dvc("exp", "show", "--csv")
    assert "brown-cow" in shown
    changed = json.loads(clone.dvc("metrics", "diff", "HEAD", "brown-cow", "--json"))
    assert set(changed) <= {"results/duel/metrics.json"}
    evaluation = "results/duel/evaluation.json"
    before, after = (
        json.loads(clone.git("show", f"HEAD:{evaluation}")),
        json.loads((clone.root / evaluation).read_text()),
    )
    assert before["policy_digest"] != after["policy_digest"]


def test_a_temporary_run_has_its_own_code_and_the_common_store(clone: Clone) -> None:
    loud = clone.root / "src" / "cardlab" / "training" / "progress.py"  # decides no result: nothing else is stale
    loud.write_text(loud.read_text() + "\nprint('code of', __file__)\n")
    clone.commit()
    output = clone.dvc("exp", "run", "--temp", "-n", "red-fox", "-S", "experiments.duel.seed=3")
    assert f"code of {clone.root}/.dvc/tmp/exps/" in output
    found = runs(clone, "thirty_one", "tags.`dvc.experiment` = 'red-fox' and tags.kind != 'tournament'")
    assert sorted(run.data.tags["kind"] for run in found) == ["evaluation", "seeds", "training", "training"]
    assert found[0].data.tags["changed"] == "seed=3"
    assert not list((clone.root / ".dvc" / "tmp").rglob("mlflow.db"))
    assert "red-fox" in clone.dvc("exp", "list", "--name-only")


def test_figures_and_curves_are_shown_by_dvc(clone: Clone) -> None:
    metrics = json.loads(clone.dvc("metrics", "show", "--json"))
    shown = metrics[""]["data"]
    assert set(shown) == {f"results/{name}/metrics.json" for name in NAMES}
    for figures in shown.values():
        assert "decisions" in figures["data"]
        assert any(name.startswith("score_") for name in figures["data"])
    assert max(map(len, clone.dvc("metrics", "show").splitlines())) <= 120, "seeds and intervals are folded away"
    for name in NAMES:
        written = json.loads((clone.root / "results" / name / "metrics.json").read_text())
        scores = {key for key in written if key.startswith("score_")}
        assert written["seeds"]
        assert written["interval"].keys() == scores
        assert all(low <= written[key] <= high for key, (low, high) in written["interval"].items())
    plots = json.loads(clone.dvc("plots", "show", "--json"))
    curves = {name.split("::")[-1]: entries for name, entries in plots["data"].items()}
    assert set(curves) == {f"learning_curves/{game}.csv" for game in ("poker_squares", "thirty_one")}
    for entries in curves.values():
        text = json.dumps(entries)
        assert '"area"' in text, "the template with the band of the interval"
        assert '"experiment": "' in text


def test_dvc_repro_refuses_an_edited_value_before_it_removes_a_result(clone: Clone) -> None:
    params = clone.root / "params.yaml"
    squares, duel = params.read_text().split("  duel:\n")
    params.write_text(squares + "  duel:\n" + re.sub(r"gamma: 0\.\d+", "gamma: 1.9", duel, count=1))
    output = clone.dvc("repro", check=False)
    assert "experiments.duel.agent.gamma=1.9: must be a number in [0, 1]" in output
    assert clone.git("status", "--porcelain").strip() == "M params.yaml"


def test_an_experiment_that_is_gone_leaves_the_report(clone: Clone) -> None:
    config = clone.root / "conf" / "config.yaml"
    left = config.read_text().replace("  - experiment@experiments.squares: squares\n", "")
    config.write_text(left.replace("squares: {seeds: 1}, ", ""))
    clone.run("cardlab", "compose")
    output = clone.dvc("repro")
    assert "Running stage 'report'" in output
    assert "Running stage 'train" not in output
    report = (clone.root / "report" / "index.html").read_text()
    assert "squares" not in report
    assert "duel" in report


HOLD = """
_plain_progress = plain_progress


def plain_progress(last_iteration, report):
    import os
    from pathlib import Path

    shown, hold = _plain_progress(last_iteration, report), Path("{hold}")

    def show(iteration, decisions, scores):
        shown(iteration, decisions, scores)
        while hold.exists() and iteration >= int(hold.read_text()):
            hold.with_suffix(f".{{os.getpid()}}").touch()
            time.sleep(0.01)

    return show
"""
"""Code by which trainings wait after the iteration that the file `hold` names: none ends before it is struck."""


def _cut_off(clone: Clone, hold: Path, blow: signal.Signals, iteration: int, *options: str) -> str:
    """Start training and strike when both seeds have done `iteration`; what was printed."""
    log = clone.root / "cut.log"
    command = [sys.executable, "-m", "dvc", "repro", "--no-run-cache", *options, "train@duel"]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore Ctrl-C
    hold.write_text(str(iteration))
    with log.open("w") as sink:
        process = subprocess.Popen(
            command, cwd=clone.root, env=clone.environment, stdout=sink, stderr=sink, start_new_session=True
        )
    while len(reached := list(hold.parent.glob(f"{hold.name}.*"))) < len(SEEDS["duel"]):
        assert process.poll() is None, log.read_text()
        time.sleep(0.02)
    os.killpg(process.pid, blow)
    process.wait(timeout=60)
    while workers(clone.root):  # the seeds, which notice that their parent is gone
        time.sleep(0.02)
    for path in (hold, *reached):
        path.unlink()
    return log.read_text()


def test_ctrl_c_and_kill_9_in_one_training_change_no_byte(clone: Clone, outputs: Snapshot, tmp_path: Path) -> None:
    before = outputs()
    shutil.rmtree(clone.root / "runs")  # what is finished there is not trained again
    progress = clone.root / "src" / "cardlab" / "training" / "progress.py"  # decides no result: nothing is stale
    progress.write_text(progress.read_text() + HOLD.format(hold=tmp_path / "hold"))
    clone.git("commit", "-qm", "edited", "src")
    again = ("--force", "--single-item")  # DVC would take the outputs from its cache
    _cut_off(clone, tmp_path / "hold", signal.SIGINT, 2, *again)
    (stopped,) = runs(clone, "thirty_one", "tags.kind = 'training' and tags.seed = '7'")[1:]
    assert stopped.info.status == "KILLED"
    printed = _cut_off(clone, tmp_path / "hold", signal.SIGKILL, 5, *again)
    assert "resuming after iteration" in printed
    _edit_what_decides_nothing(clone)
    clone.git("commit", "-qm", "edited", "src")
    output = clone.dvc("repro", "--no-run-cache", *again, "train@duel")
    assert "resuming after iteration" in output
    clone.dvc("repro")
    assert list(clone.root.glob("runs/duel/*/checkpoint.ckpt")) == []
    after = outputs()
    assert timeless(after["report/index.html"]) == timeless(before["report/index.html"])
    for files in (before, after):
        del files["report/index.html"], files["dvc.lock"]
    assert after == before
    run = runs(clone, "thirty_one", "tags.kind = 'training' and tags.seed = '7'")[-1]
    history = store_of(clone).client.get_metric_history(run.info.run_id, "train/iteration")
    assert sorted(int(metric.value) for metric in history) == list(range(1, 9))
    assert (run.info.run_id, run.info.status) == (stopped.info.run_id, "FINISHED")
    assert len(runs(clone, "thirty_one", "tags.kind = 'training'")) == 4  # a training done once more is another run
