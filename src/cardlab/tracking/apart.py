"""A desk in another process: MLflow is imported and asked there, beside a training and not in its way.

MLflow's client takes two seconds of CPU before its first word. Here they pass while the training imports its own
libraries.
"""

import atexit
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from cardlab.core.options import InvalidOption
from cardlab.tracking.address import project_root, store_address
from cardlab.tracking.client import TrackingUnavailable, collector_paused, connect, first_line, quiet_environment
from cardlab.tracking.desk import Delivered, Desk, OwnDesk
from cardlab.tracking.journal import Entry

_PROGRAM = "from cardlab.tracking.apart import sit; sit()"
_SECONDS_TO_END = 10.0
_PR_SET_PDEATHSIG = 1
_desks: "dict[tuple[str, Path], DeskApart]" = {}


class DeskError(RuntimeError):
    """What the desk in the other process could not do; the message is one line."""


def speak_apart() -> None:
    """From here on, runs in this project's store go through another process, which makes itself ready meanwhile.

    For a process that has not imported MLflow and need not.
    """
    root = project_root()
    try:
        address = store_address(root)
    except InvalidOption:
        return  # the store says so, where errors are told
    if "mlflow" in sys.modules or os.name != "posix" or (address, root) in _desks:
        return
    desk = DeskApart(address, root)
    _desks[address, root] = desk
    atexit.register(desk.close)


def desk_apart(address: str, root: Path) -> Desk | None:
    """The desk of another process for this store, if one was started."""
    return _desks.get((address, root))


class DeskApart:
    """Asks the other process, and waits for its answers. If that process is lost, this one does its work."""

    def __init__(self, address: str, root: Path) -> None:
        self._own = OwnDesk(cache(lambda: connect(address, root)), address, root)
        self._asked = False
        self._connection: Connection[Any, Any] | None
        self._connection, there = Pipe()
        with there:
            command = [sys.executable, "-c", _PROGRAM, str(there.fileno())]
            # In a session of its own: Ctrl-C is for the training, which then has to say how its run ended.
            self._process = subprocess.Popen(
                command, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL, start_new_session=True
            )
        self._connection.send((os.getpid(), address, root))  # not in the command, which every user can read

    def check(self) -> None:
        """See Desk."""
        self._ask("check")

    def begin(self, experiment: str, name: str, tags: Mapping[str, str]) -> str:
        """See Desk."""
        return self._ask("begin", experiment, name, dict(tags))

    def reopen(self, run_id: str) -> bool:
        """See Desk."""
        return self._ask("reopen", run_id)

    def find(self, experiment: str, tag: str, value: str) -> str | None:
        """See Desk."""
        return self._ask("find", experiment, tag, value)

    def stored_steps(self, run_id: str) -> dict[str, int]:
        """See Desk."""
        return self._ask("stored_steps", run_id)

    def stored_params(self, run_id: str) -> list[str]:
        """See Desk."""
        return self._ask("stored_params", run_id)

    def log_params(self, run_id: str, params: Mapping[str, str]) -> None:
        """See Desk."""
        self._ask("log_params", run_id, dict(params))

    def log_artifact(self, run_id: str, file: str, folder: str | None) -> None:
        """See Desk."""
        self._ask("log_artifact", run_id, file, folder)

    def deliver(self, run_id: str, entries: Sequence[Entry], artifacts: Path) -> Delivered:
        """See Desk."""
        try:
            return self._ask("deliver", run_id, list(entries), artifacts.absolute())
        except DeskError as error:
            return Delivered(0, first_line(error))

    def send_leftovers(self, spool: Path) -> int:
        """See Desk."""
        return self._ask("send_leftovers", spool.absolute())

    def close(self) -> None:
        """End the other process: all that it was asked it has answered."""
        if self._connection is not None:
            self._connection.close()
        if not self._asked:
            self._process.kill()
        try:
            self._process.wait(_SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, method: str, *arguments: Any) -> Any:
        """The answer. Raises DeskError with what went wrong there."""
        self._asked = True
        if self._connection is None:
            return getattr(self._own, method)(*arguments)
        try:
            self._connection.send((method, arguments))
            done, answer = self._connection.recv()
        except BaseException as error:  # Ctrl-C too: half a word may lie on the line
            self._connection.close()
            self._connection = None
            if isinstance(error, EOFError | OSError):
                raise DeskError("the process that speaks to the store has ended") from error
            raise
        if not done:
            raise DeskError(answer)
        return answer


def sit() -> None:
    """The other process: ready itself, then answer until the first one hangs up, or is gone in whatever way."""
    connection: Connection[Any, Any] = Connection(int(sys.argv[1]))
    try:
        parent, address, root = connection.recv()
        _end_with(parent)
        _make_ready(address)
        desk = OwnDesk(cache(lambda: connect(address, root)), address, root)
        while True:
            method, arguments = connection.recv()
            try:
                answer = True, getattr(desk, method)(*arguments)
            except TrackingUnavailable as error:
                answer = False, first_line(error.cause)
            except Exception as error:
                answer = False, first_line(error)
            connection.send(answer)
    except (EOFError, OSError):
        return


def _end_with(parent: int) -> None:
    """Be killed when `parent` is: what it had just asked for, nobody waits for, and the next process asks anew."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit()


def _make_ready(address: str) -> None:
    """Import what the first question will need."""
    quiet_environment()
    with suppress(ImportError), collector_paused():  # what is missing, the first question says
        import_module("mlflow")
        if not address.startswith("http"):
            import_module("mlflow.store.tracking.sqlalchemy_store")
