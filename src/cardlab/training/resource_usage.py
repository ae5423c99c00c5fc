"""What the processes of a training take of the machine, all together; part of no result."""

import resource
import sys
import time
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import Callback

from cardlab.learners.distributed import Ranks
from cardlab.learners.rollouts.experience import Experience

_MEGABYTE = 2**20
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


class Gauges(Callback):
    """The most memory held so far, in MB (2^20 bytes), for the log of each round; and CPU seconds of the others."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self.latest: dict[str, float] = {}
        self.cpu_of_others = 0.0

    def on_train_batch_end(
        self,
        trainer: lightning.Trainer,
        pl_module: lightning.LightningModule,
        outputs: Any,
        batch: Experience,
        batch_idx: int,
    ) -> None:
        """After each round."""
        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT / _MEGABYTE
        on_gpu = pl_module.device.type == "cuda"
        reserved = torch.cuda.max_memory_reserved(pl_module.device) / _MEGABYTE if on_gpu else 0.0
        everyone = self._ranks.each(resident, reserved, time.process_time())
        memory, gpu_memory, cpu = everyone.sum(axis=0)
        self.cpu_of_others = float(cpu - everyone[self._ranks.rank, 2])
        self.latest = {"system/peak_memory_mb": float(memory)}
        if on_gpu:
            self.latest["system/peak_gpu_memory_mb"] = float(gpu_memory)
