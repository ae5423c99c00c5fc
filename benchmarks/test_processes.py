"""What a second process is worth: rounds of PPO on Big 2 by one process and by two, in turns, one thread each."""

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from cardlab.assembly.composition import compose_experiment
from cardlab.assembly.experiment import build_experiment
from cardlab.training.run import train

ROUND = 16_384  # decisions
ROUNDS = 6
PAIRS = 3
BAR = 1.8  # needs two free cores


class Clock:
    """A log that notes when each round ended and how many decisions were learned from by then."""

    def __init__(self) -> None:
        self.ends: list[tuple[float, float]] = []

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """After each round."""
        self.ends.append((time.perf_counter(), metrics["decisions"]))

    @property
    def rate(self) -> float:
        """Decisions learned from per second, the first round and all that starts and ends left out."""
        (begin, before), *_, (end, after) = self.ends
        return (after - before) / (end - begin)


def learned_per_second(processes: int) -> float:
    """Played and learned from, on the clock."""
    overrides = [
        "game=big2",
        "agent=ppo",
        "network=big2_seed",
        "agent.epochs=4",
        "agent.minibatch_size=4096",
        f"trainer.decisions={ROUNDS * ROUND}",
        f"trainer.processes={processes}",
        "trainer.evaluations=0",
        "trainer.snapshots=0",
        f"agent.decisions_per_round={ROUND}",
    ]
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        experiment = build_experiment(compose_experiment(overrides))
        train(experiment, run_dir=Path(folder, "run"), model_dir=Path(folder, "model"), log=clock, tell=lambda _: None)
    return clock.rate


@pytest.mark.benchmark(group="processes")
def test_two_processes_learn_faster(benchmark: Any) -> None:
    rates = benchmark.pedantic(lambda: [[learned_per_second(n) for n in (1, 2)] for _ in range(PAIRS)], rounds=1)
    ratio = median(two / one for one, two in rates)
    one, two = (median(column) for column in zip(*rates, strict=True))
    benchmark.extra_info |= {
        "decisions/s, 1 process": round(one),
        "decisions/s, 2 processes": round(two),
        "ratio": round(ratio, 3),
    }
    print(f"{one:.0f} decisions/s by one process, {two:.0f} by two: {ratio:.2f} times (median of {PAIRS} pairs)")
    assert ratio >= BAR
