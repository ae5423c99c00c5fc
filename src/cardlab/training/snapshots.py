"""Policies kept on the way: how strong a training was at which point can be measured long after it."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightning
from lightning.pytorch.callbacks import Callback

from cardlab.learners.base import RoundLearner
from cardlab.learners.rollouts.experience import Experience


def is_point(done: int, points: int, total: int) -> bool:
    """Whether one of `points` evenly spaced rounds of `total` is reached with round `done`; the last is `total`."""
    return points > 0 and done * points // total > (done - 1) * points // total


class Snapshots(Callback):
    """Keeps the policy at evenly spaced rounds, each in a folder named by the decisions it had learned from.

    They are written before the checkpoint of their round: a run that goes on has all that came before.
    """

    def __init__(self, folder: Path, count: int, last_round: int, save: Callable[[Path], str]) -> None:
        self.folder = folder
        self.count = count
        self.last_round = last_round
        self.save = save

    def clear(self) -> None:
        """Forget those of an earlier training."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def on_train_batch_end(
        self,
        trainer: lightning.Trainer,
        pl_module: lightning.LightningModule,
        outputs: Any,
        batch: Experience,
        batch_idx: int,
    ) -> None:
        """After each round."""
        assert isinstance(pl_module, RoundLearner)
        if is_point(pl_module.rounds_done, self.count, self.last_round):
            self.keep(pl_module)

    def keep(self, learner: RoundLearner) -> None:
        """Write the policy as it is now; a run that stopped at its plateau ends with one, too."""
        if self.count > 0:
            self.save(self.folder / str(learner.decisions_done))
