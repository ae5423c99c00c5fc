"""Time and memory that all processes of a training use; no result depends on them."""

import resource
import sys
import time
from dataclasses import dataclass
from typing import Any

import torch
from lightning.pytorch.callbacks import Callback

from cardlab.learners.distributed import ProcessGroup

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
        self.metrics = {"usage/peak_memory_mb": float(memory), "usage/cpu_seconds": self.spent.cpu}
        if on_gpu:
            self.metrics["usage/peak_gpu_memory_mb"] = float(gpu_memory)

    def state_dict(self) -> dict[str, Any]:
        """Time until now."""
        spent = self.spent
        return {"cpu": spent.cpu, "wall": spent.wall}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue to count from the time of a checkpoint."""
        self._earlier = TimeSpent(float(state_dict["cpu"]), float(state_dict["wall"]))
