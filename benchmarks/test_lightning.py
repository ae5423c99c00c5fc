"""What Lightning costs: rounds of PPO under its Trainer against the same updates in a bare loop, in one run."""

import time
from statistics import median
from typing import Any

import pytest
from lightning.pytorch.callbacks import Callback

from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from cardlab.training.callbacks import CollectorState
from cardlab.training.experiment import Experiment
from cardlab.training.options import TrainerOptions
from cardlab.training.training_process import RolloutLoader, build_learner, lightning_trainer

ROUND = 16_384  # decisions
ROUNDS = 8
PAIRS = 4
BAR = 1.05


def experiment() -> Experiment:
    """The benchmark's PPO on Thirty-One, for a few rounds."""
    decisions = ROUNDS * ROUND
    return build_experiment(compose_experiment(["experiment=thirty_one/ppo", f"trainer.decisions={decisions}"]))


class Clock(Callback):
    """Notes the CPU seconds at the end of each round."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def on_train_batch_end(self, *_: Any, **__: Any) -> None:
        """After each round."""
        self.times.append(time.process_time())


def seconds_with_lightning() -> float:
    """CPU seconds of all rounds but the first under the Trainer."""
    built = experiment()
    learner, collector = build_learner(built)
    clock = Clock()
    trainer = lightning_trainer(TrainerOptions(), [CollectorState(collector), clock])
    trainer.fit(learner, train_dataloaders=RolloutLoader(learner, collector, built))
    return clock.times[-1] - clock.times[0]


def seconds_bare() -> float:
    """CPU seconds of the same rounds in a plain loop."""
    built = experiment()
    learner, collector = build_learner(built)
    optimizer = learner.configure_optimizers()
    learner.optimizers = lambda *_, **__: optimizer  # type: ignore[method-assign] - all that it asks of a Trainer
    times: list[float] = []
    for number, experience in enumerate(RolloutLoader(learner, collector, built)):
        learner.training_step(experience, number)
        collector.opponents.update(learner.iterations_done, learner.network, experience.payoffs, experience.seats)
        times.append(time.process_time())
    return times[-1] - times[0]


@pytest.mark.benchmark(group="lightning")
def test_lightning_costs_little(benchmark: Any) -> None:
    seconds_bare()  # compiles, loads, warms up
    pairs = benchmark.pedantic(lambda: [(seconds_with_lightning(), seconds_bare()) for _ in range(PAIRS)], rounds=1)
    ratio = median(one / other for one, other in pairs)
    benchmark.extra_info["lightning / bare loop"] = round(ratio, 4)
    print(f"lightning / bare loop: {ratio:.3f} (median of {PAIRS} pairs)")
    assert ratio <= BAR
