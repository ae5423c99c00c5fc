"""Where studies are kept: a journal on this machine, a database, or Optuna's gRPC proxy in front of one."""

import re
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import optuna
from filelock import FileLock
from optuna.exceptions import ExperimentalWarning, StorageInternalError
from optuna.storages import BaseStorage, GrpcStorageProxy, JournalStorage, RDBStorage, get_storage
from optuna.storages.journal import JournalFileBackend

_LOCK_SUFFIX = ".write"
_GRPC = re.compile(r"grpc://([^:/]+):(\d+)")
_PATIENCE = 10.0  # seconds; a proxy that is there answers at once
_PASSWORD = re.compile(r"(?<=:)[^:/@]+(?=@)")


class BrokenStudy(RuntimeError):
    """The storage of a study cannot be read; the message is one line."""


class JournalLock:
    """Optuna's lock around one line, held by the kernel: it goes with its process, and is never waited for in vain.

    Whoever takes it first cuts off half a line that a killed process has left, to which the next would be glued.
    """

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._lock = FileLock(f"{journal}{_LOCK_SUFFIX}")

    def acquire(self) -> bool:
        """Wait for it; always True, as Optuna has it."""
        self._lock.acquire()
        _cut_half_line(self._journal)
        return True

    def release(self) -> None:
        """Let the next one write."""
        self._lock.release()


def open_storage(address: str | None, folder: Path, name: str) -> BaseStorage:
    """The storage at `address`, or the journal of the study `name` in `folder`. Raises BrokenStudy."""
    quiet()
    if address is None:
        return _journal(folder / f"{name}.journal")
    with reachable(address):
        found = _GRPC.fullmatch(address)
        return _proxy(found[1], int(found[2])) if found else _database(address)


@contextmanager
def reachable(address: str | None) -> Generator[None]:
    """Inside, a database or proxy that goes away is a BrokenStudy in one line."""
    try:
        yield
    except ImportError as error:
        if address is None:
            raise
        raise BrokenStudy(f"{shown(address)}: pip install 'cardlab[cluster]' first ({error})") from error
    except Exception as error:
        if address is None or not _is_of_storage(error):
            raise
        raise BrokenStudy(f"{shown(address)}: cannot be reached ({_cause(error)})") from error


def shown(address: str) -> str:
    """The address without its password."""
    return _PASSWORD.sub("…", address)


def quiet() -> None:
    """Errors are raised; what Optuna says beside them is about its own doings."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=ExperimentalWarning)


def _journal(path: Path) -> BaseStorage:
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = JournalLock(path)
    lock.acquire()
    lock.release()
    try:
        return JournalStorage(JournalFileBackend(str(path), cast(Any, lock)))
    except (ValueError, KeyError, TypeError) as error:
        raise BrokenStudy(f"{path}: is not the journal of a study ({error}): move it away to begin anew") from error


def _database(address: str) -> BaseStorage:
    # A connection that the server or a firewall has dropped in the hours of a training is noticed and made anew.
    return get_storage(RDBStorage(address, engine_kwargs={"pool_pre_ping": True}))


def _proxy(host: str, port: int) -> BaseStorage:
    storage = GrpcStorageProxy(host=host, port=port)
    storage.wait_server_ready(timeout=_PATIENCE)
    return storage


def _cut_half_line(journal: Path) -> None:
    if not journal.exists():
        return
    with journal.open("r+b") as file:
        size = file.seek(0, 2)
        if size == 0:
            return
        file.seek(size - 1)
        if file.read(1) != b"\n":
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)


def _is_of_storage(error: Exception) -> bool:
    package = type(error).__module__.partition(".")[0]
    return isinstance(error, ConnectionError | StorageInternalError) or package in ("sqlalchemy", "psycopg", "grpc")


def _cause(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).strip().splitlines()
    return shown(lines[0]) if lines else type(error).__name__
