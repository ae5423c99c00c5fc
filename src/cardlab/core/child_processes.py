"""Functions in child processes, which are interrupted together and exit when the current process is killed."""

import os
import signal
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread
from typing import Any

from cardlab.core.exit_status import FAILED, INTERRUPTED

NOT_IN_DIGEST = "starts processes; what they run decides"

STOP_SECONDS = 60.0  # for a child to clean up and exit; then it is killed

Report = Callable[[str], None]


def usable_cores() -> int:
    """Cores that this process may use; a container or `taskset` may give it fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ChildKilled(RuntimeError):
    """A child process was killed, or exited before it ran its function; the message is one line."""


@dataclass(frozen=True)
class ChildProcess:
    """A process that runs `function(*arguments, report)`, and the pipe that receives its reports and its error."""

    name: str
    process: SpawnProcess
    pipe: Connection  # closing it interrupts the child

    @staticmethod
    def start(name: str, function: Callable[..., object], *arguments: Any) -> "ChildProcess":
        """Start the process; function and arguments are pickled."""
        context = get_context("spawn")
        pipe, other_end = context.Pipe()
        process = context.Process(target=_main, args=(other_end, function, arguments), name=name)
        with interrupts_blocked():
            process.start()
        other_end.close()
        return ChildProcess(name, process, pipe)

    def receive(self, report: Report) -> None:
        """Pass on what the child has reported; raises its error."""
        with suppress(EOFError):  # the child has exited
            while self.pipe.poll():
                message: str | Exception = self.pipe.recv()
                if isinstance(message, Exception):
                    raise message
                report(message)

    def is_importing(self) -> bool:
        """Whether the process has not begun its function: `_main` gives it a process group of its own."""
        with suppress(ProcessLookupError):
            return os.getpgid(self.process.pid or 0) == os.getpgrp()
        return False

    def check_exit(self) -> None:
        """Raise KeyboardInterrupt for an interrupted child, and ChildKilled for one that a signal ended."""
        status = self.process.exitcode or 0
        if status == INTERRUPTED:
            raise KeyboardInterrupt
        if status < 0:
            raise ChildKilled(f"{self.name} was killed by signal {-status}")
        if status > 0:
            raise ChildKilled(f"{self.name} exited with status {status}; its error is above")


@contextmanager
def interrupts_blocked() -> Generator[None]:
    """Processes that start within the block inherit that SIGINT is blocked: Ctrl-C does not break their imports."""
    resource_tracker.ensure_running()  # it unblocks SIGINT when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def wait_for(children: Iterable[ChildProcess], seconds: float) -> None:
    """Wait until a child exits or reports, at most `seconds`."""
    every = list(children)
    wait([child.process.sentinel for child in every] + [child.pipe for child in every], timeout=seconds)


def stop(children: Iterable[ChildProcess]) -> None:
    """Interrupt the children; kill those that still import, and those that do not exit in STOP_SECONDS."""
    every = list(children)
    for child in every:
        if child.is_importing():
            child.process.kill()
        child.pipe.close()
    for child in every:
        child.process.join(STOP_SECONDS)
        if child.process.is_alive():
            child.process.kill()
            child.process.join()


def _main(pipe: Connection, function: Callable[..., object], arguments: tuple[Any, ...]) -> None:
    """The child process."""
    os.setpgrp()  # Ctrl-C in the terminal interrupts the parent, which then interrupts each child once
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # discards one that is blocked
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        Thread(target=_interrupt_at_end, args=(pipe,), daemon=True).start()
        function(*arguments, pipe.send)
    except (KeyboardInterrupt, SystemExit):  # Lightning turns the first into the second
        sys.exit(INTERRUPTED)
    except Exception as error:
        with suppress(OSError):  # the parent is gone
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
