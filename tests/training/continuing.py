"""Short trainings in stretches, on Kuhn poker."""

from dataclasses import replace
from pathlib import Path

import torch

from cardlab.learners.rollouts.opponents.pool import PoolOptions
from cardlab.training.callbacks import MetricsLog
from cardlab.training.experiment import TRAINING_FILE, Experiment
from cardlab.training.run import Trained, train
from learners.kuhn_training import kuhn_experiment

ROUNDS = 10
FIRST = 4


def quiet(_: str) -> None:
    """Say nothing."""


def experiment_of(agent: str, *, stop_after: int | None = FIRST, start_from: Path | None = None) -> Experiment:
    """Ten short rounds, of which `stop_after` are done; PPO against its own past."""
    experiment = kuhn_experiment(agent, rounds=ROUNDS)
    decisions = experiment.agent.decisions_per_iteration
    trainer = replace(
        experiment.trainer,
        stop_after=stop_after and stop_after * decisions,
        start_from=start_from and str(start_from),
        checkpoint_seconds=0.0,
        evaluations=ROUNDS,
        evaluation_deals=20,
    )
    opponents = PoolOptions(size=2, every=3, current_share=0.5) if agent == "ppo" else experiment.opponents
    return replace(experiment, trainer=trainer, opponents=opponents)


def run(experiment: Experiment, folder: Path, log: MetricsLog | None = None) -> Trained:
    return train(experiment, run_dir=folder / "run", model_dir=folder / "model", log=log, report=quiet)


def steps(trained: Trained) -> int:
    """Gradient steps that the optimiser has made, as it counts them."""
    content = torch.load(trained.continuation / TRAINING_FILE, weights_only=True)
    return int(next(iter(content["optimizer"]["state"].values()))["step"])
