"""Policies saved during a training, so that each stage of it can be evaluated later."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lightning.pytorch.callbacks import Callback

from cardlab.learners.base import Learner


def is_point(done: int, points: int, total: int) -> bool:
    """Whether iteration `done` is one of `points` evenly spaced ones among `total`; the last is `total`."""
    return points > 0 and done * points // total > (done - 1) * points // total


class Snapshots(Callback):
    """Saves the policy at evenly spaced iterations, in folders named by the number of decisions.

    A snapshot is written before the checkpoint of its iteration, so a resumed run has all earlier ones.
    """

    def __init__(self, folder: Path, count: int, last_iteration: int, save: Callable[[Path], str]) -> None:
        self.folder = folder
        self.count = count
        self.last_iteration = last_iteration
        self.save = save

    def clear(self) -> None:
        """Delete the snapshots of an earlier training."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Save a snapshot if it is due."""
        assert isinstance(pl_module, Learner)
        if is_point(pl_module.iterations_done, self.count, self.last_iteration):
            self.save_snapshot(pl_module)

    def save_snapshot(self, learner: Learner) -> None:
        """Save the current policy; called once more at the end, for runs that stop at a plateau."""
        if self.count > 0:
            self.save(self.folder / str(learner.decisions_done))
