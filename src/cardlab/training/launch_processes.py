"""Starts and stops the worker processes of a training: a torch.distributed group on this machine.

Each worker is a fresh interpreter that receives the experiment through a pipe. Lightning would run the command line
again and multiprocessing would import the user's program; this works from the CLI, a pipeline stage, a sweep and a
notebook. A worker exits when the main process exits.
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
from pathlib import Path

from torch import distributed
from torch.distributed import Store, TCPStore  # pyright: ignore[reportPrivateImportUsage]

from cardlab.core.messages import InvalidOption
from cardlab.learners.distributed import ProcessGroup
from cardlab.training.experiment import Experiment
from cardlab.training.external_launch import TIMEOUT, ProcessLost, backend, joined_group, train_together

_KEY = "trainer.processes"
_HOST = "127.0.0.1"
_SECONDS_TO_EXIT = 30.0
_SECONDS_TO_FAIL = 5.0  # from a broken connection to the exit of the process that broke it


@dataclass(frozen=True)
class Job:
    """What a worker receives."""

    experiment: Experiment
    checkpoint: Path
    resume: Path | None
    group: ProcessGroup
    port: int


@dataclass(frozen=True)
class _Worker:
    group: ProcessGroup
    process: "subprocess.Popen[bytes]"
    log: Path  # its output

    def error(self) -> ProcessLost | None:
        """The error to raise for a worker that has failed."""
        status = self.process.poll()
        if not status:
            return None
        name = f"process {self.group.rank + 1} of {self.group.size} ({_KEY})"
        if status < 0:
            return ProcessLost(f"{name} was killed by signal {-status}")
        lines = self.log.read_text(errors="replace").strip().splitlines() or [f"status {status}"]
        return ProcessLost(f"{name} failed ({lines[-1][:200]}); its output is in {self.log}")


@contextmanager
def start_processes(experiment: Experiment, checkpoint: Path, resume: Path | None) -> Generator[ProcessGroup]:
    """Run `worker.main` in the other processes of `experiment` during the block; yields the group of the main process.

    Raises InvalidOption for an experiment that cannot be sent, and ProcessLost when a worker fails.
    """
    size = experiment.trainer.processes
    joined = joined_group()
    if joined is not None:
        if size != joined.size:
            raise InvalidOption(_KEY, size, f"{joined.size}, the number of processes that were started (WORLD_SIZE)")
        with train_together(experiment, checkpoint, resume) as group:
            yield group
        return
    if size == 1:
        yield ProcessGroup()
        return
    if distributed.is_initialized():
        raise InvalidOption(_KEY, size, "1 in a process that already is in a torch.distributed group")
    store = TCPStore(_HOST, 0, size, is_master=True, wait_for_workers=False)
    jobs = [Job(experiment, checkpoint, resume, ProcessGroup(rank, size), store.port) for rank in range(1, size)]
    messages = [_pickled(job) for job in jobs]
    workers: list[_Worker] = []
    try:
        workers.extend(_start(job, message) for job, message in zip(jobs, messages, strict=True))
        _wait_for(store, workers)
        with join_process_group(store, ProcessGroup(0, size), experiment.trainer.device) as group:
            yield group
            _wait_until_done(workers)
    except RuntimeError as error:
        if isinstance(error, ProcessLost) or type(error).__module__.startswith("cardlab."):
            raise
        if lost := _find_error(workers, time.monotonic() + _SECONDS_TO_FAIL):
            raise lost from error
        raise
    finally:
        _stop(workers)


@contextmanager
def join_process_group(store: Store, group: ProcessGroup, device: str = "cpu") -> Generator[ProcessGroup]:
    """Join the group that meets at `store`; it communicates over loopback only."""
    before = os.environ.get("GLOO_SOCKET_IFNAME")
    os.environ["GLOO_SOCKET_IFNAME"] = next(name for _, name in socket.if_nameindex() if name.startswith("lo"))
    try:
        name = backend(device, group.size)
        distributed.init_process_group(name, store=store, rank=group.rank, world_size=group.size, timeout=TIMEOUT)
    finally:
        os.environ.pop("GLOO_SOCKET_IFNAME")
        if before is not None:
            os.environ["GLOO_SOCKET_IFNAME"] = before
    try:
        yield group
    finally:
        distributed.destroy_process_group()


def connect(job: Job) -> Store:
    """Connect to the main process and report this worker as ready."""
    store = TCPStore(_HOST, job.port, job.group.size, is_master=False)
    store.set(_ready(job.group), "")
    return store


def _ready(group: ProcessGroup) -> str:
    return f"ready/{group.rank}"


def _pickled(job: Job) -> bytes:
    size = job.group.size
    try:
        message = pickle.dumps(job)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InvalidOption(_KEY, size, f"1: this experiment cannot be sent to other processes ({error})") from error
    if b"__main__" in message:
        raise InvalidOption(_KEY, size, "1 for classes defined in the main program; move them to a module")
    return message


def _start(job: Job, message: bytes) -> _Worker:
    log = job.checkpoint.with_name(f"process_{job.group.rank + 1}.log")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(os.path.abspath(entry) for entry in sys.path),
        "PYTHONSAFEPATH": "1",
        "OMP_NUM_THREADS": str(job.experiment.trainer.threads),
    }
    command = [sys.executable, "-m", f"{__package__}.worker"]
    with log.open("wb") as sink:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=sink, stderr=sink)
    assert process.stdin is not None
    with suppress(BrokenPipeError):  # it has exited, which _wait_for finds
        process.stdin.write(message)
        process.stdin.flush()
    return _Worker(job.group, process, log)


def _wait_for(store: Store, workers: Sequence[_Worker]) -> None:
    """Wait until all workers are ready; their imports take seconds."""
    while not store.check([_ready(worker.group) for worker in workers]):
        if lost := _find_error(workers, time.monotonic()):
            raise lost
        time.sleep(0.05)


def _wait_until_done(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        with suppress(subprocess.TimeoutExpired):  # all is written: a late exit loses nothing
            worker.process.wait(_SECONDS_TO_EXIT)
    if lost := _find_error(workers, time.monotonic()):
        raise lost


def _find_error(workers: Sequence[_Worker], deadline: float) -> ProcessLost | None:
    """The error of a failed worker, preferably one that was killed; waits for one until `deadline`."""
    while True:
        failed = [worker for worker in workers if worker.process.poll()]
        if failed:
            return min(failed, key=lambda worker: worker.process.returncode).error()
        if time.monotonic() >= deadline:
            return None
        time.sleep(0.05)


def _stop(workers: Sequence[_Worker]) -> None:
    for worker in workers:
        if worker.process.poll() is None:
            worker.process.kill()
        worker.process.wait()
        assert worker.process.stdin is not None
        with suppress(BrokenPipeError):
            worker.process.stdin.close()
        if not worker.process.returncode or worker.process.returncode < 0:
            worker.log.unlink(missing_ok=True)  # it holds no error
