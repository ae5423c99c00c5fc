"""A training in processes that torchrun, SLURM or Ray Train has started, on one machine or several.

Rank 0 runs the whole command and sends each training to the others, which write nothing.
"""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch import distributed

from cardlab.learners.base import TrainingDiverged
from cardlab.learners.distributed import ProcessGroup
from cardlab.training.experiment import Experiment
from cardlab.training.training_process import TrainingProcess

TIMEOUT = timedelta(days=7)  # processes wait while the main process evaluates; a lost process is noticed at once


class ProcessLost(RuntimeError):
    """A process of the training has exited; the message is one line. The last checkpoint is unaffected."""

    def __str__(self) -> str:
        return f"{super().__str__()}; run the same command again to resume from the last checkpoint"


@dataclass
class _Joined:
    group: ProcessGroup
    trains: bool = False  # the others run a training and wait for its exchanges, not for the next training


_joined: ContextVar[_Joined | None] = ContextVar("_joined", default=None)


def environment_group() -> ProcessGroup:
    """Rank and size among the processes that torchrun has started, by RANK and WORLD_SIZE; else a group of one."""
    return ProcessGroup(int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1")))


def joined_group() -> ProcessGroup | None:
    """The group whose rank 0 runs the current command, if any."""
    return joined.group if (joined := _joined.get()) else None


def backend(device: str, processes: int) -> str:
    """Backend of torch.distributed for `processes` on this machine; NCCL needs a GPU for each."""
    return "cpu:gloo,cuda:nccl" if device == "gpu" and processes <= torch.cuda.device_count() else "gloo"


def run_in_group(group: ProcessGroup, device: str, command: Callable[[], int]) -> int:
    """Run `command` in rank 0, and its trainings in all; MASTER_ADDR and MASTER_PORT are where they meet.

    A group that Ray Train has opened is used and kept. Returns the exit status. Raises ProcessLost.
    """
    opens = not distributed.is_initialized()
    if opens:
        local = int(os.environ.get("LOCAL_WORLD_SIZE", str(group.size)))
        distributed.init_process_group(backend(device, local), timeout=TIMEOUT)
    try:
        return _run_main(group, command) if group.is_main else _run_other(group)
    finally:
        if opens:
            distributed.destroy_process_group()


def _run_main(group: ProcessGroup, command: Callable[[], int]) -> int:
    joined = _Joined(group)
    token = _joined.set(joined)
    try:
        return command()
    finally:
        _joined.reset(token)
        if not joined.trains:
            distributed.broadcast_object_list([None])


def _run_other(group: ProcessGroup) -> int:
    while True:
        job: list[Any] = [None]
        distributed.broadcast_object_list(job)
        if job[0] is None:
            return 0
        try:
            experiment, checkpoint, resume = job[0]
            TrainingProcess(experiment, checkpoint, group).fit(resume)
        except TrainingDiverged:
            pass  # the main process reports it


@contextmanager
def train_together(experiment: Experiment, checkpoint: Path, resume: Path | None) -> Generator[ProcessGroup]:
    """Run the training in the other processes of the joined group during the block. Raises ProcessLost."""
    joined = _joined.get()
    assert joined is not None
    joined.trains = True
    try:
        distributed.broadcast_object_list([(experiment, checkpoint, resume)])
        yield joined.group
    except TrainingDiverged:
        joined.trains = False
        raise
    except RuntimeError as error:
        # gloo raises a plain RuntimeError, whose text has the path of its source.
        if not isinstance(error, distributed.DistError) and "gloo" not in str(error):
            raise
        text = str(error).strip().splitlines()[0][:200]
        raise ProcessLost(f"a process of the training has exited ({text})") from error
    joined.trains = False
