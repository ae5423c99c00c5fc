"""Lightning callbacks of a training: opponents, metrics, checkpoints, snapshots of the policy, time spent.

All state is in their `state_dict`s: a training resumed from a checkpoint equals one that was never interrupted.
"""

import resource
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import lightning
import torch
from lightning.pytorch.callbacks import Callback

from cardlab.learners.base import Learner
from cardlab.learners.distributed import ProcessGroup
from cardlab.learners.rollouts.collector import Collector
from cardlab.tracking.lineage import CPU_SECONDS
from cardlab.training.checkpoint_files import CheckpointError, computing_versions, replace_checkpoint

_FIRST_SECONDS = 2.0  # before the first checkpoint; each next pause is twice as long, up to `checkpoint_seconds`


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


_MEGABYTE = 2**20
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


@dataclass(frozen=True)
class TimeSpent:
    """Seconds that a training took, evaluations included."""

    cpu: float  # of all threads of all processes
    wall: float


class ResourceUsage(Callback):
    """Measures peak memory in MB (2^20 bytes) and time, from its creation on and including that of earlier attempts."""

    def __init__(self, group: ProcessGroup) -> None:
        self._group = group
        self.metrics: dict[str, float] = {}
        self._earlier = TimeSpent(0.0, 0.0)
        self._cpu_of_others = 0.0
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    @property
    def spent(self) -> TimeSpent:
        """Time until now."""
        cpu = time.process_time() - self._cpu + self._cpu_of_others
        wall = time.perf_counter() - self._wall
        return TimeSpent(self._earlier.cpu + cpu, self._earlier.wall + wall)

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Exchange the figures of all processes."""
        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT / _MEGABYTE
        on_gpu = pl_module.device.type == "cuda"
        reserved = torch.cuda.max_memory_reserved(pl_module.device) / _MEGABYTE if on_gpu else 0.0
        gathered = self._group.all_gather(resident, reserved, time.process_time())
        memory, gpu_memory, cpu = gathered.sum(axis=0)
        self._cpu_of_others = float(cpu - gathered[self._group.rank, 2])
        self.metrics = {"usage/peak_memory_mb": float(memory), CPU_SECONDS: self.spent.cpu}
        if on_gpu:
            self.metrics["usage/peak_gpu_memory_mb"] = float(gpu_memory)

    def state_dict(self) -> dict[str, Any]:
        """Time until now."""
        spent = self.spent
        return {"cpu": spent.cpu, "wall": spent.wall}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue to count from the time of a checkpoint."""
        self._earlier = TimeSpent(float(state_dict["cpu"]), float(state_dict["wall"]))


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
    """Writes a checkpoint every `seconds`; the main process decides for all when to write and to stop.

    The first ones come sooner, so that a short training that is interrupted keeps half of its work, too.
    """

    def __init__(self, path: Path, seconds: float, group: ProcessGroup | None = None) -> None:
        self.path = path
        self.seconds = seconds
        self.group = group or ProcessGroup()
        self.report: Callable[[str], None] = print
        self.after_save: Callable[[], object] = lambda: None
        self._warned = False
        self._last = time.monotonic()
        self._pause = min(seconds, _FIRST_SECONDS)

    def state_dict(self) -> dict[str, Any]:
        """The versions that have computed what is saved."""
        return {"versions": computing_versions()}

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Save if it is time. This callback comes last: the other processes wait here while the main one evaluates.

        A single process continues after a checkpoint that cannot be written; the next one may succeed.
        """
        is_time = time.monotonic() - self._last >= self._pause
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
            self._pause = min(self.seconds, 2 * self._pause)
