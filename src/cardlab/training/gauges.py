"""What a training takes of the machine; logged with each round, part of no result."""

import resource
import sys
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import Callback

from cardlab.experience.records import Experience
from cardlab.learners.ranks import Ranks

_MEGABYTE = 2**20
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes


class Gauges(Callback):
    """The most memory that the processes of a training have held so far, all together, in MB (2^20 bytes)."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self.latest: dict[str, float] = {}

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
        memory, gpu_memory = self._ranks.each(resident, reserved).sum(axis=0)
        self.latest = {"system/peak_memory_mb": float(memory)}
        if on_gpu:
            self.latest["system/peak_gpu_memory_mb"] = float(gpu_memory)
