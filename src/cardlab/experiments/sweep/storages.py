"""Databases that hold studies."""

import os
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

from cardlab.core.messages import without_password
from cardlab.experiments.sweep.options import STORAGE
from cardlab.experiments.sweep.retries import MISSED_HEARTBEATS, retry
from cardlab.tracking.connection import sqlite_address

DATABASE = "studies.db"
_SQLITE_TIMEOUT = 60.0  # seconds to wait for another process that writes


class StudyUnavailable(RuntimeError):
    """A study or its storage cannot be used; the message is one line."""


class _Storage(RDBStorage):
    """Optuna's storage, made safe for several processes on sqlite and for a database that is away for a moment."""

    def set_trial_state_values(self, trial_id: int, state: TrialState, values: Sequence[float] | None = None) -> bool:
        """Set the state within a write lock on sqlite, which has no row locks.

        Otherwise two workers would take the same enqueued trial, or would both fail and retry a dead one.
        """
        if self.engine.name == "sqlite":
            self.scoped_session().execute(text("BEGIN IMMEDIATE"))
        return super().set_trial_state_values(trial_id, state, values)

    def record_heartbeat(self, trial_id: int) -> None:
        """Ignore errors: Optuna's heartbeat thread would end at the first one, and the trial would become stale."""
        with suppress(SQLAlchemyError, StorageInternalError):
            super().record_heartbeat(trial_id)


def storage_address(address: str | None, root: Path) -> str:
    """The address of a storage; None is that of OPTUNA_STORAGE, or `studies.db` at the root of the project."""
    return address or os.environ.get(STORAGE) or sqlite_address(root / DATABASE)


def sqlite_path(address: str) -> Path | None:
    """The file of a SQLite storage; None for another."""
    return Path(make_url(address).database or DATABASE) if address.startswith("sqlite") else None


def open_storage(address: str, heartbeat: int = 10) -> BaseStorage:
    """The storage at `address`, whose running trials send a heartbeat every `heartbeat` seconds.

    Stale trials fail and are enqueued again (`retry`). Raises StudyUnavailable.
    """
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=ExperimentalWarning)
    with storage_errors(address):
        path = sqlite_path(address)
        if path is None:
            # pre-ping: a connection that was dropped during hours of training is made again
            return get_storage(_open(address, heartbeat, {"pool_pre_ping": True}))
        with FileLock(f"{path}.lock"):  # processes that create the tables at the same time fail
            storage = _open(address, heartbeat, {"connect_args": {"timeout": _SQLITE_TIMEOUT}})
            with storage.engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL")  # a dashboard reads while workers write
        return get_storage(storage)


@contextmanager
def storage_errors(address: str) -> Generator[None]:
    """Inside, an error of the database is raised as StudyUnavailable in one line."""
    try:
        yield
    except (StorageInternalError, SQLAlchemyError) as error:
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        reason = (str(cause).strip() or type(cause).__name__).splitlines()[0]
        raise StudyUnavailable(without_password(f"{address}: cannot be used ({reason})")) from error


def _open(address: str, heartbeat: int, engine: dict[str, Any]) -> RDBStorage:
    liveness: dict[str, Any] = {"heartbeat_interval": heartbeat, "grace_period": MISSED_HEARTBEATS * heartbeat}
    try:
        return _Storage(address, engine, **liveness, heartbeat_stale_trial_callback=retry)
    except (ImportError, RuntimeError) as error:  # no driver; tables of another version of Optuna
        hint = "; pip install 'cardlab[cluster]' first" if isinstance(error, ImportError) else ""
        raise StudyUnavailable(without_password(f"{address}: {' '.join(str(error).split())}{hint}")) from error
