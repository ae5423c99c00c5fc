"""Lightning callbacks of a training: opponents, tracked metrics, checkpoints.

All state is in their `state_dict`s: a training resumed from a checkpoint equals one that was never interrupted.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import lightning
from lightning.pytorch.callbacks import Callback

from cardlab.learners.base import Learner
from cardlab.learners.distributed import ProcessGroup
from cardlab.learners.rollouts.collector import Collector
from cardlab.training.checkpoint_files import CheckpointError, computing_versions, replace_checkpoint


class MetricsLog(Protocol):
    """Receives the metrics of a training, e.g. a run of the tracking store."""

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """Log the metrics of one iteration; `step` counts the decisions asked for, a few percent below those made."""
        ...


class TrackedRun(Protocol):
    """A run whose unsent metrics are saved in checkpoints, so that kill -9 and resume lose and repeat none."""

    in_checkpoints: bool

    def state_dict(self) -> dict[str, Any]:
        """What has not been sent."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what had not been sent."""
        ...

    def flush(self) -> bool:
        """Send what the checkpoint has saved; returns whether all of it arrived."""
        ...


class TrackingState(Callback):
    """Saves the unsent metrics of a run in the checkpoint."""

    def __init__(self, run: TrackedRun) -> None:
        self.run = run
        run.in_checkpoints = True

    def state_dict(self) -> dict[str, Any]:
        """See TrackedRun."""
        return self.run.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """See TrackedRun."""
        self.run.load_state_dict(state_dict)


class CollectorState(Callback):
    """Updates the opponents after each iteration; saves the unfinished games of all processes in the checkpoint."""

    def __init__(self, collector: Collector, group: ProcessGroup | None = None) -> None:
        self.collector = collector
        self.group = group or ProcessGroup()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Count the results and perhaps add a checkpoint to the opponent pool."""
        assert isinstance(pl_module, Learner)
        opponents, network = self.collector.opponents, pl_module.network
        opponents.update(pl_module.iterations_done, network, batch.payoffs, batch.seats)

    def state_dict(self) -> dict[str, Any]:
        """State of the collector, of all processes."""
        return {"collector": self.group.gather_state(self.collector.state_dict())}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the collector."""
        self.collector.load_state_dict(self.group.own_state(state_dict["collector"]))


class Checkpoints(Callback):
    """Writes a checkpoint every `seconds`; the main process decides for all when to write and to stop."""

    def __init__(self, path: Path, seconds: float, group: ProcessGroup | None = None) -> None:
        self.path = path
        self.seconds = seconds
        self.group = group or ProcessGroup()
        self.report: Callable[[str], None] = print
        self.after_save: Callable[[], object] = lambda: None
        self._warned = False
        self._last = time.monotonic()

    def state_dict(self) -> dict[str, Any]:
        """The versions that have computed what is saved."""
        return {"versions": computing_versions()}

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Save if it is time. This callback comes last: the other processes wait here while the main one evaluates.

        A single process continues after a checkpoint that cannot be written; the next one may succeed.
        """
        is_time = time.monotonic() - self._last >= self.seconds
        is_time, trainer.should_stop = self.group.broadcast(is_time, trainer.should_stop)
        if not is_time or trainer.should_stop:  # which a checkpoint does not hold; one follows at the end
            return
        try:
            self.save(trainer)
        except CheckpointError as error:
            if self.group.size > 1:
                raise
            if not self._warned:
                self.report(f"{error}; training continues")
            self._warned = True

    def save(self, trainer: lightning.Trainer) -> None:
        """Write a temporary file, then move it to `path`; it or the checkpoint before it is complete at every moment.

        Raises CheckpointError.
        """
        part = self.path.with_suffix(".part")  # a fixed name: the next save overwrites what a kill left
        try:
            trainer.save_checkpoint(part)  # the main process writes the state of all
            if self.group.is_main:
                replace_checkpoint(self.path, part)
                self.after_save()
        except OSError as error:
            with suppress(OSError):
                part.unlink(missing_ok=True)
            reason = (error.strerror or str(error)).splitlines()[0]
            remaining = "the last good one stays" if self.path.exists() else "there is none yet"
            raise CheckpointError(f"{self.path}: cannot be written ({reason}); {remaining}") from error
        finally:
            self._last = time.monotonic()
