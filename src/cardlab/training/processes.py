"""Starts the other processes of a training and ends them: a group of torch.distributed on this machine.

Each is a fresh interpreter that is sent the experiment through a pipe. So neither the command line is run once more (as
by Lightning's own start) nor the user's program imported (as by multiprocessing): it works from the CLI, a stage of the
pipeline, a sweep's worker and a notebook alike. A process whose first one is gone ends itself.
"""

import os
import pickle
import socket
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from torch import distributed as group
from torch.distributed import Store, TCPStore  # pyright: ignore[reportPrivateImportUsage]

from cardlab.core.options import InvalidOption
from cardlab.learners.distributed import Ranks
from cardlab.training.experiment import Experiment

_KEY = "trainer.processes"
_HOST = "127.0.0.1"
_PATIENCE = timedelta(days=7)  # the others wait while the first measures strength; a lost one is noticed at once
_SECONDS_TO_END = 30.0
_SECONDS_TO_FAIL = 5.0  # between a broken connection and the end of the process that broke it


class ProcessLost(RuntimeError):
    """One of the processes of a training has ended; the message is one line. The last checkpoint is good."""


@dataclass(frozen=True)
class Job:
    """What a process is sent."""

    experiment: Experiment
    checkpoint: Path
    resume: Path | None
    ranks: Ranks
    port: int


@dataclass(frozen=True)
class _Worker:
    ranks: Ranks
    process: "subprocess.Popen[bytes]"
    trace: Path

    def loss(self) -> ProcessLost | None:
        """What is told of a process that has ended before its time."""
        status = self.process.poll()
        if not status:
            return None
        name = f"process {self.ranks.rank + 1} of {self.ranks.size} ({_KEY})"
        goes_on = "the same command goes on from the last checkpoint"
        if status < 0:
            return ProcessLost(f"{name} was killed by signal {-status}: {goes_on}")
        lines = self.trace.read_text(errors="replace").strip().splitlines() or [f"status {status}"]
        return ProcessLost(f"{name} failed ({lines[-1][:200]}): {goes_on}; its trace is {self.trace}")


@contextmanager
def together(experiment: Experiment, checkpoint: Path, resume: Path | None) -> Generator[Ranks]:
    """The processes of `experiment`, this one the first of them; the others run `worker.main`, and end with the block.

    Raises InvalidOption for an experiment that cannot be sent, and ProcessLost when one of them ends early.
    """
    size = experiment.trainer.processes
    if size == 1:
        yield Ranks()
        return
    if group.is_initialized():
        raise InvalidOption(_KEY, size, "1 in a process that is in a group of torch.distributed already")
    store = TCPStore(_HOST, 0, size, is_master=True, wait_for_workers=False)
    jobs = [Job(experiment, checkpoint, resume, Ranks(rank, size), store.port) for rank in range(1, size)]
    messages = [_packed(job) for job in jobs]
    workers: list[_Worker] = []
    try:
        workers += [_start(job, message) for job, message in zip(jobs, messages, strict=True)]
        _wait_for(store, workers)
        with connected(store, Ranks(0, size)) as ranks:
            yield ranks
            _wait_until_done(workers)
    except RuntimeError as error:
        if isinstance(error, ProcessLost) or type(error).__module__.startswith("cardlab."):
            raise
        if lost := _lost(workers, time.monotonic() + _SECONDS_TO_FAIL):
            raise lost from error
        raise
    finally:
        _end(workers)


@contextmanager
def connected(store: Store, ranks: Ranks) -> Generator[Ranks]:
    """Be a member of the group that meets at `store`; nothing of it leaves this machine."""
    before = os.environ.get("GLOO_SOCKET_IFNAME")
    os.environ["GLOO_SOCKET_IFNAME"] = next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
    try:
        group.init_process_group("gloo", store=store, rank=ranks.rank, world_size=ranks.size, timeout=_PATIENCE)
    finally:
        os.environ.pop("GLOO_SOCKET_IFNAME")
        if before is not None:
            os.environ["GLOO_SOCKET_IFNAME"] = before
    try:
        yield ranks
    finally:
        group.destroy_process_group()


def join(job: Job) -> Store:
    """Meet the first process, and tell it that this one is ready."""
    store = TCPStore(_HOST, job.port, job.ranks.size, is_master=False)
    store.set(_ready(job.ranks), "")
    return store


def _ready(ranks: Ranks) -> str:
    return f"ready/{ranks.rank}"


def _packed(job: Job) -> bytes:
    size = job.ranks.size
    try:
        message = pickle.dumps(job)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InvalidOption(_KEY, size, f"1: this experiment cannot be sent to others ({error})") from error
    if b"__main__" in message:
        raise InvalidOption(_KEY, size, "1 for parts that are defined in the program itself: move them to a module")
    return message


def _start(job: Job, message: bytes) -> _Worker:
    trace = job.checkpoint.with_name(f"process_{job.ranks.rank + 1}.log")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(os.path.abspath(entry) for entry in sys.path),
        "PYTHONSAFEPATH": "1",
        "OMP_NUM_THREADS": str(job.experiment.trainer.threads),
    }
    command = [sys.executable, "-m", f"{__package__}.worker"]
    with trace.open("wb") as sink:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=sink, stderr=sink)
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # it has ended: that is found when it is waited for
        process.stdin.write(message)
        process.stdin.flush()
    return _Worker(job.ranks, process, trace)


def _wait_for(store: Store, workers: Sequence[_Worker]) -> None:
    """Until all have imported what they need; imports take seconds, on a busy machine many."""
    while not store.check([_ready(worker.ranks) for worker in workers]):
        if lost := _lost(workers, time.monotonic()):
            raise lost
        time.sleep(0.05)


def _wait_until_done(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        with suppress(subprocess.TimeoutExpired):  # all is learned and written: a late end is no loss
            worker.process.wait(_SECONDS_TO_END)
    if lost := _lost(workers, time.monotonic()):
        raise lost


def _lost(workers: Sequence[_Worker], deadline: float) -> ProcessLost | None:
    """What is told of the process that ended first, as far as that can be known: the one that was killed, if any."""
    while True:
        ended = [worker for worker in workers if worker.process.poll()]
        if ended:
            return min(ended, key=lambda worker: worker.process.returncode).loss()
        if time.monotonic() >= deadline:
            return None
        time.sleep(0.05)


def _end(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        if worker.process.poll() is None:
            worker.process.kill()
        worker.process.wait()
        assert worker.process.stdin is not None
        with suppress(BrokenPipeError):
            worker.process.stdin.close()
        if not worker.process.returncode or worker.process.returncode < 0:
            worker.trace.unlink(missing_ok=True)  # it has nothing to say
