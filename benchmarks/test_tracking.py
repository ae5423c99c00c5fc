"""What tracking and checkpoints cost: whole trainings with each, and without, as processes one after the other.

A training has the benchmark's PPO on Thirty-One, its budget, and the default pause between checkpoints. Two measures:
the same training with and without, in pairs; and the share of a training's time that goes into the calls, without the
start, which imports MLflow.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pytest

PAIRS = 3
BAR = 0.01  # of a training's time, in the calls of each
START = 3.0  # seconds: MLflow is imported, and the run begun
EXPERIMENT = ["experiment=thirty_one/ppo"]

PROGRAM = """
import json, sys, time
from pathlib import Path
from cardlab.cli import main
from cardlab.tracking import Run, Store

spent = {"start": 0.0, "tracking": 0.0, "checkpoints": 0.0}

def timed(owner, name, part):
    plain = getattr(owner, name)
    def call(*args, **kwargs):
        began = time.perf_counter()
        try:
            return plain(*args, **kwargs)
        finally:
            spent[part] += time.perf_counter() - began
    setattr(owner, name, call)

part, arguments = sys.argv[1], sys.argv[2:]
for name in ("check", "start_or_resume"):
    timed(Store, name, "start")
for name in ("log_metrics", "set_tags", "log_artifact", "flush", "finish"):
    timed(Run, name, "tracking")
if part == "tracking":
    assert main(["train", *arguments]) == 0
else:
    from cardlab.experiments.config.composition import compose_experiment
    from cardlab.experiments.config.build_experiment import build_experiment
    from cardlab.cli import train as same_imports
    from cardlab.training.callbacks import Checkpoints
    from cardlab.training.run import train
    timed(Checkpoints, "save", "checkpoints")
    train(build_experiment(compose_experiment(arguments)), run_dir=Path("run"), model_dir=Path("model"))
print(json.dumps(spent))
"""


@dataclass(frozen=True)
class Cost:
    """Seconds of one training."""

    wall: float
    cpu: float
    inside: dict[str, float]  # wall, in the calls of tracking and of checkpoints


def train(folder: Path, part: str) -> Cost:
    """One training in `folder`: with tracking, with checkpoints, or with neither."""
    folder.mkdir(exist_ok=True)
    never = [] if part == "checkpoints" else ["trainer.checkpoint_seconds=1e9"]
    environment = os.environ | {"DVC_ROOT": str(folder)}
    environment.pop("MLFLOW_TRACKING_URI", None)
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, part, *EXPERIMENT, *never],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    said = process.stdout.read().splitlines()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    assert status == 0, said
    return Cost(wall, usage.ru_utime + usage.ru_stime, json.loads(said[-1]))


@pytest.mark.benchmark(group="tracking")
def test_tracking_and_checkpoints_cost_little(benchmark: Any, tmp_path: Path) -> None:
    parts = ("tracking", "checkpoints")

    def pairs() -> list[dict[str, Cost]]:
        train(tmp_path / "tracking", "tracking")  # compiles, and makes the store
        return [{part: train(tmp_path / part, part) for part in ("neither", *parts)} for _ in range(PAIRS)]

    done = benchmark.pedantic(pairs, rounds=1)
    for part in parts:
        ratios = {
            name: median(getattr(each[part], name) / getattr(each["neither"], name) for each in done)
            for name in ("wall", "cpu")
        }
        share = median(each[part].inside[part] / each[part].wall for each in done)
        seconds = median(each["neither"].wall for each in done)
        text = ", ".join(f"{name} {ratio:.3f}" for name, ratio in ratios.items())
        print(f"{part}: with / without, of {seconds:.0f} s: {text}; {100 * share:.2f} % of the time in its calls")
        benchmark.extra_info[part] = {**{key: round(ratio, 4) for key, ratio in ratios.items()}, "share": share}
        assert share <= BAR
        assert ratios["wall"] <= 1 + BAR + (START / seconds if part == "tracking" else 0)
    start = median(each["tracking"].inside["start"] for each in done)
    print(f"start of a run: {start:.1f} s")
