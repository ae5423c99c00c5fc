"""`dvc repro`, killed with -9 in a stage that trains or evaluates, leaves what an undisturbed one leaves."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from cardlab.tracking import Store
from failures.test_killed_matches import workers

pytestmark = pytest.mark.slow

KILLS = 1  # in the first of STAGES; test_pipeline.py kills a training
STAGES = {"evaluate": 4.0, "train": 6.0}  # → seconds within which the kill comes
SECONDS_TO_END = 5.0
Clone = Any  # of conftest.py, which cannot be imported


def test_killed_in_a_stage(clone: Clone, outputs: Callable[[], dict[str, bytes]], kill: int) -> None:
    stage = [*STAGES][kill % len(STAGES)]
    whole, before = deterministic(outputs()), recorded(clone)
    forget(clone, stage)
    kill_in_stage(clone, f"{stage}@duel", random.Random(kill).uniform(0.0, STAGES[stage]))
    deadline = time.monotonic() + SECONDS_TO_END
    while still := workers(clone.root):
        assert time.monotonic() < deadline, still
        time.sleep(0.1)
    clone.dvc("repro", "--no-run-cache", "train@duel", "evaluate@duel")
    assert deterministic(outputs()) == whole
    assert recorded(clone) == before


def forget(clone: Clone, stage: str) -> None:
    """Delete the runs that a stage makes, and those that follow from them, so that its work is done again."""
    kinds = {"train": ("training", "seeds", "evaluation"), "evaluate": ("evaluation",)}[stage]
    if stage == "train":
        shutil.rmtree(clone.root / "runs")
    store = store_of(clone)
    for run in store.client.search_runs([store.experiment_id("thirty_one")]):
        if run.data.tags["kind"] in kinds:
            store.client.delete_run(run.info.run_id)


def kill_in_stage(clone: Clone, stage: str, seconds: float) -> None:
    """Run `stage` again, and kill it and DVC `seconds` after it began."""
    log = clone.root / "cut.log"
    command = [sys.executable, "-m", "dvc", "repro", "--force", "--single-item", "--no-run-cache", stage]
    with log.open("w") as sink:
        process = subprocess.Popen(
            command, cwd=clone.root, env=clone.environment, stdout=sink, stderr=sink, start_new_session=True
        )
    while f"Running stage '{stage}'" not in log.read_text():
        assert process.poll() is None, log.read_text()
        time.sleep(0.02)
    time.sleep(seconds)
    assert process.poll() is None, f"ended before the kill: {log.read_text()}"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=60)


def deterministic(files: dict[str, bytes]) -> dict[str, bytes]:
    """Without the report and dvc.lock, which have the cost of a training in them."""
    return {name: content for name, content in files.items() if name not in ("report/index.html", "dvc.lock")}


def store_of(clone: Clone) -> Store:
    return Store(f"sqlite:///{clone.root}/mlflow.db", clone.root)


def recorded(clone: Clone) -> Counter[tuple[str, str | None, str, tuple[tuple[str, int], ...]]]:
    """Kind, seed and status of each run of the experiment, and how often it has each metric at a step."""
    store = store_of(clone)
    found: Counter[tuple[str, str | None, str, tuple[tuple[str, int], ...]]] = Counter()
    for run in store.client.search_runs([store.experiment_id("thirty_one")]):
        points = [
            (name, metric.step)
            for name in sorted(run.data.metrics)
            for metric in store.client.get_metric_history(run.info.run_id, name)
        ]
        found[run.data.tags["kind"], run.data.tags.get("seed"), run.info.status, tuple(sorted(points))] += 1
    return found
