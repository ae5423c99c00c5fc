"""Iterations of learning, as a training runs them: on one core in CPU time, or in several processes by the clock."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import torch
from lightning.pytorch.callbacks import Callback

from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.learners.base import Learner
from cardlab.learners.rollouts.collector import Collector
from cardlab.training.callbacks import CollectorState
from cardlab.training.run import train
from cardlab.training.training_process import (
    RolloutLoader,
    build_learner,
    denormals_flushed,
    keep_freed_memory,
    lightning_trainer,
)

WARM = 2  # rounds that compile kernels and layers
FAST = ("trainer.precision=bfloat16", "trainer.compile=true")

PPO_BIG2 = ("game=big2", "agent=ppo", "network=big2/paper", "agent.epochs=4")
"""The Big 2 seed's network, 412-512-(256, 256)-1695, and its four epochs: rounds of 8,192, minibatches of 2,048."""

CHAMPION_BIG2 = ("game=big2", "game.features=plans", "agent=big2/champion", "network=big2/champion")
"""The champion's network and learner in self-play: two epochs, rounds of 65,536, minibatches of 4,096."""


@dataclass(frozen=True)
class Round:
    """What a round was and what it cost, games and updates together."""

    decisions: int
    seconds: float


def best_speed(rounds: Sequence[Round]) -> float:
    """Decisions a second in the best of them: what other work on the machine has disturbed least."""
    return max(one.decisions / one.seconds for one in rounds)


@contextmanager
def as_in_trainings() -> Iterator[None]:
    """One thread, freed memory kept (from then on), denormal numbers 0: for all sides of a comparison."""
    torch.set_num_threads(1)
    keep_freed_memory()
    with denormals_flushed():
        yield


class Clock(Callback):
    """Notes the seconds of `clock` and the decisions so far at the end of each round."""

    def __init__(self, after_round: Callable[[int], None], clock: Callable[[], float]) -> None:
        self.after_round = after_round
        self.clock = clock
        self.marks: list[tuple[float, int]] = []

    def on_train_batch_end(self, trainer: Any, pl_module: Any, *_: Any, **__: Any) -> None:
        """After each round; what `after_round` does with its number counts to the next."""
        self.marks.append((self.clock(), pl_module.decisions_done))
        self.after_round(len(self.marks))


def learn(
    overrides: Sequence[str],
    rounds: int,
    prepare: Callable[[Learner, Collector], None] | None = None,
    after_round: Callable[[int], None] = lambda _: None,
    clock: Callable[[], float] = process_time,
) -> list[Round]:
    """Learn for WARM + `rounds` rounds of the experiment, as a training does; gives the last `rounds`.

    `prepare` sees the learner and its tables before the first, `after_round` the number of each that is done. `clock`
    gives CPU seconds; on a GPU it must be that of the wall.
    """
    budget = "trainer.decisions=1_000_000"  # what anneals hardly moves
    experiment = build_experiment(compose_experiment([*overrides, budget]))
    rollout = experiment.agent.decisions_per_iteration
    options = replace(experiment.trainer, stop_after=(WARM + rounds) * rollout)
    learner, collector = build_learner(experiment)
    if prepare is not None:
        prepare(learner, collector)
    noted = Clock(after_round, clock)
    dtype = getattr(torch, options.precision)
    batches = RolloutLoader(learner, collector, replace(experiment, trainer=options), dtype)
    with as_in_trainings():
        lightning_trainer(options, [CollectorState(collector), noted]).fit(learner, train_dataloaders=batches)
    marks = noted.marks[WARM - 1 :]
    return [Round(after - before, end - begin) for (begin, before), (end, after) in pairwise(marks)]


class LogClock:
    """A log that notes wall and CPU time and the decisions learned from at the end of each iteration."""

    def __init__(self) -> None:
        self.ends: list[tuple[float, float, float]] = []

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """After each iteration."""
        self.ends.append((perf_counter(), process_time(), float(step)))


def train_speed(overrides: Sequence[str], iterations: int, decisions: int) -> tuple[float, float]:
    """Decisions a second of a training in any number of processes: of the wall, and of the main process's CPU time.

    Its first iteration of `decisions`, start and end are left out. CPU time counts no waits.
    """
    budget = (
        f"agent.decisions_per_iteration={decisions}",
        f"trainer.decisions={iterations * decisions}",
        "trainer.evaluations=0",
        "trainer.snapshots=0",
    )
    log = LogClock()
    with TemporaryDirectory() as folder:
        experiment = build_experiment(compose_experiment([*overrides, *budget]))
        train(experiment, run_dir=Path(folder, "run"), model_dir=Path(folder, "model"), log=log, report=lambda _: None)
    (began, cpu_began, before), *_, (ended, cpu_ended, after) = log.ends
    return (after - before) / (ended - began), (after - before) / (cpu_ended - cpu_began)
