"""Real processes that are killed: forked from one that has imported everything, so that each costs little.

This module is also what that process imports.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing import forkserver, get_context, spawn
from pathlib import Path
from typing import Any

FILE_OPERATIONS = {"open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "os.rmdir", "shutil.rmtree"}
_CONTEXT = get_context("forkserver")


def start_server() -> None:
    """Start the process that the others are forked from, if it does not run."""
    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [path, str(Path(__file__).parents[1])]))
    try:
        _CONTEXT.set_forkserver_preload(["failures.preloaded"])
        forkserver.ensure_running()
    finally:
        os.environ.pop("PYTHONPATH")
        if path is not None:
            os.environ["PYTHONPATH"] = path


def run_command(arguments: Sequence[str]) -> int:
    """The command line, as the program runs it."""
    from cardlab.cli import main  # noqa: PLC0415  in the child

    return main(arguments)


class Child:
    """`body(arguments)` in a process of its own, with `root` as its project and its output in `log`.

    `kill_at`: before that many operations on the project's files, or after that many seconds of its CPU time, which a
    busy machine does not stretch; either way no handler, `finally` or buffer of Python has a say.
    `halt_at`: the process halts when it prints such a text, and can be looked at, killed or resumed.
    """

    def __init__(
        self,
        root: Path,
        arguments: Sequence[str],
        *,
        log: Path,
        kill_at: float | None = None,
        halt_at: str | None = None,
        body: Callable[[Sequence[str]], int] = run_command,
        **environment: str,
    ) -> None:
        start_server()
        self.log = log
        known = {"DVC_ROOT": str(root), "OMP_NUM_THREADS": "1", **environment}
        given = (str(root), list(arguments), str(log), kill_at, halt_at, body, known, sys.executable)
        self.process = _CONTEXT.Process(target=_run, args=given)
        self.process.start()

    def wait(self, seconds: float = 300.0) -> int:
        """The exit code, negative for a signal."""
        self.process.join(seconds)
        assert self.process.exitcode is not None, f"still running after {seconds} s: {self.log.read_text()}"
        return self.process.exitcode

    def wait_until_halted(self, seconds: float = 300.0) -> int:
        """The process id of a child that has come to its `halt_at`."""
        deadline = time.monotonic() + seconds
        stat = Path(f"/proc/{self.process.pid}/stat")
        while stat.read_text().rpartition(")")[2].split()[0] != "T":
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.01)
        return int(self.process.pid or 0)

    def resume(self) -> None:
        """Let a halted child go on."""
        os.kill(self.process.pid or 0, signal.SIGCONT)

    def kill(self) -> None:
        """As kill -9 does."""
        self.process.kill()
        self.process.join()


def _run(
    root: str,
    arguments: list[str],
    log: str,
    kill_at: float | None,
    halt_at: str | None,
    body: Callable[[Sequence[str]], int],
    environment: dict[str, str],
    executable: str,
) -> None:
    sys.executable = executable
    spawn.set_executable(executable)
    for name in ("MLFLOW_TRACKING_URI", "DVC_STAGE", "PYTEST_CURRENT_TEST"):
        os.environ.pop(name, None)
    os.environ |= environment
    os.chdir(root)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore Ctrl-C
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
    sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    sys.stdout = os.fdopen(1, "w", buffering=1)
    sys.stderr = os.fdopen(2, "w", buffering=1)
    if halt_at is not None:
        _halt_at(halt_at)
    if isinstance(kill_at, float):
        signal.setitimer(signal.ITIMER_PROF, max(kill_at, 1e-3))
    operations = _count_operations(root, kill_at)
    code = body(arguments)
    print(f"file operations: {operations()}")
    sys.exit(code)


def _halt_at(text: str) -> None:
    """Halt this process once, when it has printed `text`."""
    write, halted = sys.stdout.write, False

    def watch(printed: str) -> int:
        nonlocal halted
        count = write(printed)
        if text in printed and not halted:
            halted = True
            os.kill(os.getpid(), signal.SIGSTOP)
        return count

    sys.stdout.write = watch


def _count_operations(root: str, kill_at: float | None) -> Callable[[], int]:
    """Count what this process does to the files of `root`, and kill it just before number `kill_at`."""
    count = 0

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal count
        if event in FILE_OPERATIONS and str(arguments[0]).startswith(root):
            if isinstance(kill_at, int) and count == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            count += 1

    sys.addaudithook(watch)
    return lambda: count
