"""PPO on Big 2 with the seed's network and four epochs, on one core: float32 beside the fast mode, in one run."""

import time
from typing import Any

import torch
from lightning.pytorch.callbacks import Callback
from pytest_benchmark.fixture import BenchmarkFixture

from cardlab.assembly.composition import compose_experiment
from cardlab.assembly.experiment import build_experiment
from cardlab.training.callbacks import Field
from cardlab.training.learning import build_learner, lightning_trainer
from cardlab.training.rounds import Rounds

ROUND = 8192  # decisions
ROUNDS = 5  # the first one compiles
PAIRS = 2
BAR = 1.5
EXPERIMENT = ["game=big2", "agent=ppo", "network=big2_seed", "agent.epochs=4", f"trainer.decisions={ROUNDS * ROUND}"]
FAST = ["trainer.precision=bfloat16", "trainer.compile=true"]


class Clock(Callback):
    """Notes the CPU seconds at the end of each round."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def on_train_batch_end(self, *_: Any, **__: Any) -> None:
        """After each round."""
        self.times.append(time.process_time())


def decisions_per_second(overrides: list[str]) -> float:
    """Of CPU time, games and updates together, in the best round."""
    torch.set_num_threads(1)
    experiment = build_experiment(compose_experiment([*EXPERIMENT, *overrides]))
    options = experiment.trainer
    learner, collector = build_learner(experiment)
    if options.compile:
        learner.network.compile_layers()
    clock = Clock()
    rounds = Rounds(learner, collector, ROUND, ROUNDS, getattr(torch, options.precision))
    lightning_trainer(options, [Field(collector), clock]).fit(learner, train_dataloaders=rounds)
    return ROUND / min(later - before for before, later in zip(clock.times, clock.times[1:], strict=False))


def test_the_fast_mode_learns_faster(benchmark: BenchmarkFixture) -> None:
    """The best of several pairs, taken in turn."""
    speeds = {"float32": 0.0, "fast": 0.0}

    def pair() -> None:
        for name, overrides in (("float32", []), ("fast", FAST)):
            speeds[name] = max(speeds[name], decisions_per_second(overrides))

    benchmark.pedantic(pair, rounds=PAIRS)
    benchmark.extra_info |= {name: round(speed) for name, speed in speeds.items()}
    print({name: round(speed) for name, speed in speeds.items()})
    assert speeds["fast"] > BAR * speeds["float32"]
