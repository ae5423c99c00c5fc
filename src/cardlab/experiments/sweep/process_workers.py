"""Workers of a sweep in processes of this machine."""

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread

from cardlab.core.exit_status import FAILED, INTERRUPTED
from cardlab.experiments.sweep.worker import SweepPlan, run_worker

WAIT_SECONDS = 1.0
STOP_SECONDS = 60.0  # for a worker to close its run and exit; then it is killed


class WorkersKilled(RuntimeError):
    """Workers are killed again and again, or cannot start."""


@dataclass(frozen=True)
class WorkerProcess:
    """A process, and the pipe from which its error is read; closing the pipe interrupts the process."""

    process: SpawnProcess
    pipe: Connection


@dataclass(frozen=True)
class ProcessLauncher:
    """Starts workers as processes, which also exit when the current process is killed."""

    plan: SweepPlan

    def start(self) -> WorkerProcess:
        """Start a process."""
        context = get_context("spawn")
        pipe, other_end = context.Pipe()
        process = context.Process(target=_main, args=(self.plan, other_end), name=f"{self.plan.study} worker")
        process.start()
        other_end.close()
        return WorkerProcess(process, pipe)

    def wait(self, workers: list[WorkerProcess]) -> list[WorkerProcess]:
        """The workers that have ended, after WAIT_SECONDS at most."""
        wait([worker.process.sentinel for worker in workers], timeout=WAIT_SECONDS)
        return [worker for worker in workers if not worker.process.is_alive()]

    def was_killed(self, worker: WorkerProcess) -> bool:
        """Whether a signal ended the process; an error that it sent is raised."""
        code = worker.process.exitcode or 0
        if worker.pipe.poll():
            with suppress(EOFError):  # nothing was sent
                raise worker.pipe.recv()
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        if code > 0:
            raise WorkersKilled(f"a worker exited with status {code} before its first trial; its error is above")
        return code < 0

    def stop(self, workers: list[WorkerProcess]) -> None:
        """Interrupt the workers, and kill those that do not exit in STOP_SECONDS."""
        for worker in workers:
            worker.pipe.close()
        for worker in workers:
            worker.process.join(STOP_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()


def _main(plan: SweepPlan, pipe: Connection) -> None:
    """A worker process."""
    os.setpgrp()  # Ctrl-C in the terminal interrupts the sweep, which then stops each worker once
    signal.signal(signal.SIGINT, signal.default_int_handler)
    Thread(target=_interrupt_at_end, args=(pipe,), daemon=True).start()
    try:
        run_worker(plan)
    except (KeyboardInterrupt, SystemExit):
        sys.exit(INTERRUPTED)
    except Exception as error:
        try:
            pipe.send(error)
        except Exception:  # it cannot be pickled
            pipe.send(RuntimeError(f"{type(error).__name__}: {error}"))
        sys.exit(FAILED)


def _interrupt_at_end(pipe: Connection) -> None:
    """Interrupt the current process when its parent closes the pipe or exits."""
    with suppress(EOFError, OSError):
        pipe.recv()
    os.kill(os.getpid(), signal.SIGINT)
