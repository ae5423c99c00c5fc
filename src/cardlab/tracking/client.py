"""MLflow's client, imported when first used, with its telemetry off and the store's schema in place."""

import gc
import logging
import os
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from cardlab.tracking.address import sqlite_file, without_password

if TYPE_CHECKING:
    from mlflow import MlflowClient

_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",  # MLflow's own retries take four minutes
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
}
_LOG_LEVELS = {  # what these report as errors is raised to us as well
    "mlflow.store.db.utils": logging.CRITICAL,
    "alembic": logging.WARNING,
    "urllib3.connectionpool": logging.ERROR,
}
_SCHEMA_TIMEOUT = 120.0  # seconds; a first process writes the schema in two
_SCHEMA_LOCK = 0x6361_7264_6C61_6231  # "cardlab1" as a number: advisory locks of PostgreSQL have no other name


class TrackingUnavailable(RuntimeError):
    """The store cannot be reached or used; the message is one line, fit for a terminal."""

    def __init__(self, address: str, error: Exception) -> None:
        self.cause = error
        super().__init__(f"tracking store {without_password(address)}: {first_line(error)}")


class StoreDamaged(RuntimeError):
    """The store's file was replaced, or its schema is half made; the message is one line that says what to do."""


def first_line(error: Exception) -> str:
    """The first line of an error, fit to be shown."""
    lines = str(error.cause if isinstance(error, TrackingUnavailable) else error).strip().splitlines()
    return without_password(lines[0] if lines else repr(error))


def quiet_environment() -> None:
    """Set what MLflow reads when it is imported; whoever starts MLflow in another process calls this too."""
    for key, value in _ENVIRONMENT.items():
        os.environ.setdefault(key, value)


def connect(address: str, root: Path) -> "MlflowClient":
    """A client whose store has its schema; any number of processes may do this at once. Raises TrackingUnavailable.

    MLflow writes the schema of a fresh database without a lock: here processes take turns, on PostgreSQL also those of
    other machines. A fresh sqlite store is made beside its place and moved there whole: a kill leaves none half made.
    """
    quiet_environment()
    gc.freeze()  # the imports make 300,000 objects: the collector need not visit those of torch each time
    from mlflow import MlflowClient  # noqa: PLC0415  a second, and only after the environment is set

    for name, level in _LOG_LEVELS.items():
        logging.getLogger(name).setLevel(level)
    try:
        if address.startswith("http"):
            return MlflowClient(address)
        file = sqlite_file(address, root)
        with _turn(address, Path(f"{file}.lock") if file else root / "runs" / "tracking" / "schema.lock"):
            if file and not (file.exists() and file.stat().st_size):
                _make_store(file)
            elif file:
                _write_ahead(file)
            return MlflowClient(address)  # writes the schema, elsewhere than in sqlite
    except Exception as error:
        if "already exists" in str(error):
            what = f"its schema is half made, perhaps by a process that was killed: {_cure(address, root)}"
            raise TrackingUnavailable(address, StoreDamaged(what)) from error
        raise TrackingUnavailable(address, error) from error


def _cure(address: str, root: Path) -> str:
    file = sqlite_file(address, root)
    return f"move {file} away" if file else "drop the database and create an empty one"


def _make_store(file: Path) -> None:
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore  # noqa: PLC0415  comes with MLflow's client

    draft = file.with_name(f"{file.name}.new")
    file.parent.mkdir(parents=True, exist_ok=True)
    for left in file.parent.glob(f"{draft.name}*"):
        left.unlink()
    SqlAlchemyStore(f"sqlite:///{draft}", str(file.parent / "mlartifacts")).engine.dispose()
    _write_ahead(draft)
    draft.replace(file)


@contextmanager
def _turn(address: str, lock: Path) -> Generator[None]:
    """Hold the right to write the schema: a lock of the database itself where it has one, else the file `lock`."""
    if not address.startswith("postgresql"):
        lock.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(lock, timeout=_SCHEMA_TIMEOUT):
            yield
        return
    from sqlalchemy import NullPool, create_engine, text  # noqa: PLC0415  comes with MLflow's client

    with create_engine(address, poolclass=NullPool).connect() as connection:
        connection.execute(text(f"SET lock_timeout = '{_SCHEMA_TIMEOUT:.0f}s'"))
        connection.execute(text(f"SELECT pg_advisory_lock({_SCHEMA_LOCK})"))
        yield  # the lock ends with the connection


def _write_ahead(file: Path) -> None:
    """Let readers and one writer work side by side; the setting stays in the file."""
    with closing(sqlite3.connect(file, timeout=_SCHEMA_TIMEOUT)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
