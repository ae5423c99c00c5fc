"""With `ema_decay` the running mean of the weights is what is measured and kept, while the last weights learn."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from cardlab.training.experiment import Experiment
from cardlab.training.run import Trained, train
from learners.kuhn_training import kuhn_experiment

DECAY = 0.75
ROUNDS = 5


def averaged(agent: str, decay: float) -> Experiment:
    experiment = kuhn_experiment(agent, rounds=ROUNDS)
    trainer = replace(experiment.trainer, evaluations=0, snapshots=ROUNDS)
    return replace(experiment, trainer=trainer, agent=replace(experiment.agent, ema_decay=decay))


def run(experiment: Experiment, folder: Path) -> Trained:
    return train(experiment, run_dir=folder / "run", model_dir=folder / "model", report=lambda _: None)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "weights.safetensors")


@pytest.mark.parametrize("agent", ["ppo", "dqn", "td"])
def test_the_mean_follows_the_weights(agent: str, tmp_path: Path) -> None:
    plain, mean = (run(averaged(agent, decay), tmp_path / str(decay)) for decay in (0.0, DECAY))
    points = sorted(int(folder.name) for folder in plain.snapshots.iterdir())
    assert sorted(int(folder.name) for folder in mean.snapshots.iterdir()) == points  # the same games were played
    assert len(points) == ROUNDS
    wanted = weights(plain.snapshots / str(points[0]))
    for point in points:
        learned = weights(plain.snapshots / str(point))
        wanted = {name: DECAY * value + (1 - DECAY) * learned[name] for name, value in wanted.items()}
        kept = weights(mean.snapshots / str(point))
        for name, value in wanted.items():
            torch.testing.assert_close(kept[name], value)
    assert weights(mean.folder).keys() == weights(plain.folder).keys()  # a policy's folder does not show the difference
    assert mean.digest != plain.digest
