"""Databases that hold studies: sqlite at the root of the project by default, PostgreSQL for several machines."""

import re
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import optuna
from filelock import FileLock
from optuna.exceptions import ExperimentalWarning, StorageInternalError
from optuna.storages import BaseStorage, RDBStorage, get_storage
from optuna.trial import TrialState
from sqlalchemy import make_url, text
from sqlalchemy.exc import SQLAlchemyError

from cardlab.experiments.sweep.recovery import MISSED_BEATS, retry

DATABASE = "studies.db"
_SQLITE_TIMEOUT = 60.0  # seconds to wait for another process that writes
_PASSWORD = re.compile(r"(?<=:)[^:/@]+(?=@)")


class BrokenStudy(RuntimeError):
    """A study or its storage cannot be used; the message is one line."""


class _Storage(RDBStorage):
    """Optuna's storage, made safe for several processes on sqlite and for a database that is away for a moment."""

    def set_trial_state_values(self, trial_id: int, state: TrialState, values: Sequence[float] | None = None) -> bool:
        """As RDBStorage, which reads the state before it sets it, under a row's lock that sqlite does not have.

        Without a lock two workers would take the same enqueued trial, or would both fail and retry a dead one.
        """
        if self.engine.name == "sqlite":
            self.scoped_session().execute(text("BEGIN IMMEDIATE"))
        return super().set_trial_state_values(trial_id, state, values)

    def record_heartbeat(self, trial_id: int) -> None:
        """As RDBStorage; in Optuna an error ends the heartbeat's thread for good, and the trial would be stale."""
        with suppress(SQLAlchemyError, StorageInternalError):
            super().record_heartbeat(trial_id)


def storage_address(address: str | None, root: Path) -> str:
    """The address of a storage; None is `studies.db` at the root of the project."""
    return address or f"sqlite:///{root / DATABASE}"


def open_storage(address: str, heartbeat: int = 10) -> BaseStorage:
    """The storage at `address`, whose running trials show every `heartbeat` seconds that they live.

    Stale trials fail and are enqueued again (`retry`). Raises BrokenStudy.
    """
    quiet()
    with reachable(address):
        if not address.startswith("sqlite"):
            # pre-ping: a connection that was dropped during hours of training is made again
            return get_storage(_open(address, heartbeat, {"pool_pre_ping": True}))
        path = Path(make_url(address).database or DATABASE)
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock"):  # processes that make the tables at the same time fail
            storage = _open(address, heartbeat, {"connect_args": {"timeout": _SQLITE_TIMEOUT}})
            with storage.engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL")  # a dashboard reads while workers write
        return get_storage(storage)


@contextmanager
def reachable(address: str) -> Generator[None]:
    """Inside, a database that goes away is a BrokenStudy in one line."""
    try:
        yield
    except (StorageInternalError, SQLAlchemyError) as error:
        raise BrokenStudy(f"{shown(address)}: cannot be used ({_cause(error)})") from error


def shown(address: str) -> str:
    """The address without its password."""
    return _PASSWORD.sub("…", address)


def quiet() -> None:
    """Silence Optuna's log and its warnings about experimental features: errors are raised."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=ExperimentalWarning)


def _open(address: str, heartbeat: int, engine: dict[str, Any]) -> RDBStorage:
    try:
        return _Storage(
            address,
            engine,
            heartbeat_interval=heartbeat,
            grace_period=MISSED_BEATS * heartbeat,
            heartbeat_stale_trial_callback=retry,
        )
    except ImportError as error:
        raise BrokenStudy(f"{shown(address)}: pip install 'cardlab[cluster]' first ({error})") from error
    except RuntimeError as error:  # the tables of another version of Optuna
        raise BrokenStudy(f"{shown(address)}: {' '.join(str(error).split())}") from error


def _cause(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    lines = str(error).strip().splitlines()
    return shown(lines[0]) if lines else type(error).__name__
