"""Several commands at once in one clone: each ends as it does alone, and none is in another's way unsaid."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from cardlab.core.exit_status import FAILED
from cardlab.tracking import Store
from failures.children import Child
from failures.test_killed_training import ROUNDS, TRAIN

pytestmark = pytest.mark.slow

EVALUATE = [
    "evaluate", "game=thirty_one", "policy=greedy", "arena.references=[random]", "arena.deals=400", "arena.processes=1",
    "output=evaluation.json",
]  # fmt: skip
COMMANDS = {"seven": [*TRAIN, "seed=7"], "eight": [*TRAIN, "seed=8"], "evaluation": EVALUATE}


def project(database: Path, root: Path) -> Path:
    root.mkdir()
    shutil.copyfile(database, root / "mlflow.db")
    return root


def left(root: Path) -> dict[str, bytes]:
    """The bytes that are a function of the seed: policies, curves, figures; not which training was the last."""
    runs = [folder for folder in root.glob("runs/squares/*") if not folder.is_symlink()]
    trained = [path for run in runs for path in (*run.glob("policy/*"), run / "curve.csv")]
    files = [root / "evaluation.json", *trained]
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def test_two_trainings_and_an_evaluation_in_one_clone(fresh_database: Path, tmp_path: Path) -> None:
    together, after = project(fresh_database, tmp_path / "together"), project(fresh_database, tmp_path / "after")
    running = [Child(together, command, log=tmp_path / name) for name, command in COMMANDS.items()]
    for child in running:
        assert child.wait() == 0, child.log.read_text()
    for name, command in COMMANDS.items():
        assert Child(after, command, log=tmp_path / f"{name} alone").wait() == 0
    assert left(together) == left(after)
    assert len(left(together)) == 7
    recorded: list[dict[str, int]] = []
    for store in map(store_of, (together, after)):
        runs = runs_of(store, "poker_squares")
        assert [run.info.status for run in runs] == ["FINISHED"] * 2
        recorded.append({run.data.params["seed"]: steps_of(store, run.info.run_id) for run in runs})
    assert recorded == [{"7": ROUNDS, "8": ROUNDS}] * 2


def store_of(root: Path) -> Store:
    return Store(f"sqlite:///{root}/mlflow.db", root)


def runs_of(store: Store, game: str) -> list[Any]:
    return list(store.client.search_runs([store.experiment_id(game)]))


def steps_of(store: Store, run_id: str) -> int:
    """How many figures of rounds the run has."""
    return len(store.client.get_metric_history(run_id, "train/iteration"))


def test_the_same_training_twice_at_once(fresh_database: Path, tmp_path: Path) -> None:
    """The second ends in one line, begins no run, and disturbs nothing; once the first is done it may train anew."""
    root = project(fresh_database, tmp_path / "project")
    first = Child(root, TRAIN, log=tmp_path / "first", halt_at="squares: iteration ")
    first.wait_until_halted()
    second = Child(root, TRAIN, log=tmp_path / "second")
    assert second.wait() == FAILED
    first.resume()
    (told,) = [line for line in second.log.read_text().splitlines() if not line.startswith("file operations")]
    assert re.fullmatch(r"cardlab: error: .*/squares/\w+: another process trains here; wait for it or stop it", told)
    assert first.wait() == 0, first.log.read_text()
    assert [run.info.status for run in runs_of(store_of(root), "poker_squares")] == ["FINISHED"]
