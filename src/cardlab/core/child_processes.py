"""Child processes: functions that run in them, names by which others find them, and scripts that cannot start them."""

import ast
import inspect
import os
import platform
import signal
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import current_process, get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread
from typing import Any

import psutil

from cardlab.core.exit_status import FAILED, INTERRUPTED, resending, start_program
from cardlab.core.messages import InvalidOption

NOT_IN_DIGEST = "starts processes; what they run decides"


STOP_SECONDS = 60.0  # for a child to clean up and exit; then it is killed

Report = Callable[[Any], None]
"""Gets a message of a child."""


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
        resource_tracker.ensure_running()  # it unblocks SIGINT when it starts
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # Ctrl-C does not break the child's imports
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        other_end.close()
        return ChildProcess(name, process, pipe)

    def is_running(self, report: Report) -> bool:
        """Pass on what the child has reported; False when it has ended. Raises its error, or that of `check_exit`."""
        running = self.process.is_alive()  # before its last messages are read
        self.receive(report)
        if not running:
            self.check_exit()
        return running

    def receive(self, report: Report) -> None:
        """Pass on what the child has reported; raises its error."""
        with suppress(EOFError, ConnectionResetError):  # the child has exited
            while self.pipe.poll():
                message: Any = self.pipe.recv()
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
            raise ChildKilled(f"{self.name} was killed by signal {-status} (memory?); run the same command again")
        if status > 0:
            raise ChildKilled(f"{self.name} exited with status {status}; its error is above")


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
    start_program()
    os.setpgrp()  # Ctrl-C in the terminal interrupts the parent, which then interrupts each child once
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # discards one that is blocked
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    sys.unraisablehook = resending(lambda: signal.SIGINT, sys.unraisablehook)
    try:
        Thread(target=_interrupt_at_end, args=(pipe,), daemon=True).start()
        function(*arguments, pipe.send)
    except (KeyboardInterrupt, SystemExit):  # Lightning turns the first into the second
        sys.exit(INTERRUPTED)
    except Exception as error:
        error.add_note(f"In {current_process().name}: {traceback.format_exc()}")
        with suppress(OSError, KeyboardInterrupt):  # the parent is gone, or stops this process
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


def process_name(pid: int | None = None) -> str:
    """HOST:PID:START of a process of this machine, by default of the current one."""
    return f"{_host()}:{pid or os.getpid()}:{psutil.Process(pid).create_time():.0f}"


def is_alive(name: str) -> bool | None:
    """Whether a process of this machine runs; None for one of another machine."""
    host, pid, started = name.rsplit(":", 2)
    if host != _host():
        return None
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(int(pid))
        return process.status() != psutil.STATUS_ZOMBIE and abs(process.create_time() - float(started)) < 2
    return False


def _host() -> str:
    """Where process ids mean the same: this machine, and the container if there is one."""
    with suppress(OSError):
        return f"{platform.node()}/{os.stat('/proc/self/ns/pid').st_ino}"
    return platform.node()


def require_main_guard(key: str, processes: int) -> None:
    """InvalidOption if the script that is running calls this outside of `if __name__ == "__main__":`."""
    main = sys.modules["__main__"]
    path = getattr(main, "__file__", None)
    if path is None or (main.__spec__ is not None and main.__spec__.name.endswith("__main__")):
        return  # a notebook, or `python -m package`: multiprocessing does not import them
    frame = inspect.currentframe()
    while frame is not None and not (frame.f_globals is vars(main) and frame.f_code.co_name == "<module>"):
        frame = frame.f_back
    if frame is None or _is_guarded(path, frame.f_lineno):
        return
    guard = 'put line {} of {} below `if __name__ == "__main__":`, since each process imports the script'
    raise InvalidOption(key, processes, f"1 here; for more, {guard.format(frame.f_lineno, path)}")


def _is_guarded(path: str, line: int) -> bool:
    """Whether the line is in an `if` on `__name__`; True for a file that is no Python source."""
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (OSError, ValueError, SyntaxError):
        return True
    guards = [node for node in tree.body if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)]
    return any(node.lineno <= line <= (node.end_lineno or line) for node in guards)
