"""The MLflow store: where it is, how its schema is made, and MLflow's client, which is imported on first use."""

import logging
import os
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from filelock import FileLock

from cardlab.core.messages import InvalidOption, without_password
from cardlab.core.running_code import fast_imports

if TYPE_CHECKING:
    from mlflow import MlflowClient


ARTIFACTS = "mlartifacts"  # folder of the artifacts, beside the file

_logger = logging.getLogger(__name__)
_TIMEOUT = 120.0  # seconds to wait for another process that writes
_SQLITE = re.compile(r"sqlite(\+pysqlite)?:///([^?]+)")
_QUOTED = re.compile(r"[?#%{}\x00-\x1f\x7f]")  # read as something else by sqlalchemy, or by Optuna's templates
_ADDRESSES = {  # table → columns with addresses of artifacts
    "experiments": ("artifact_location",),
    "runs": ("artifact_uri",),
    "logged_models": ("artifact_location",),
    "model_versions": ("source", "storage_location"),
}
_SCHEME = re.compile(r"(sqlite|postgresql|mysql|mssql|https?|databricks)(\+\w+)?:.+|databricks")
_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",  # MLflow's default retries take four minutes
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "GIT_PYTHON_REFRESH": "quiet",  # MLflow asks git for the commit, and warns in four lines where there is none
}
_LOG_LEVELS = {  # these also raise what they log as errors
    "mlflow.store.db.utils": logging.CRITICAL,
    "alembic": logging.WARNING,
    "urllib3.connectionpool": logging.ERROR,
}
_HINTS = {  # part of a message of sqlite → what to do
    "database is locked": "another process is writing; stop it, or run the same command again later",
    "file is not a database": "move it away, or restore a copy",
    "disk image is malformed": "it is damaged; move it away, or restore a copy",
    "readonly database": "it cannot be written; check the permissions of the file and its folder",
    "unable to open database file": "check the permissions of the file and its folder",
}
SERVERS = ("http", "databricks")
_ERRNO = re.compile(r"\[Errno -?\d+\]([\w ]+)")


class StoreDamaged(RuntimeError):
    """The file of the store cannot be used as it is; the message is one line that says what to do."""


def sqlite_address(file: Path) -> str:
    """The address of a sqlite file for sqlalchemy, MLflow and Optuna, with special characters quoted.

    With the short form `sqlite:///`, MLflow would make a folder whose name is the quoted path.
    """
    path = str(file)
    return f"sqlite+pysqlite:///{quote(path, safe=' +/')}" if _QUOTED.search(path) else f"sqlite:///{path}"


def sqlite_file(address: str, root: Path) -> Path | None:
    """The file of a sqlite address, in `root` if it is relative; None for any other address.

    Raises InvalidOption for an address with a query, as in `sqlite:///file:x?uri=true`.
    """
    if not address.startswith("sqlite"):
        return None
    parts = _SQLITE.fullmatch(address)
    if parts is None:
        raise InvalidOption("MLFLOW_TRACKING_URI", address, "sqlite:///FILE, with %3F for a ? in its name")
    return root / unquote(parts[2])


def make_sqlite(file: Path) -> None:
    """Make the store under another name, then move it: a killed process leaves no incomplete one.

    Write-ahead logging is on: readers do not block the writer.
    """
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore  # noqa: PLC0415  slow import

    draft = file.with_name(f"{file.name}.new")
    unfinished = [f"{draft}{part}" for part in ("", "-journal", "-wal", "-shm")]
    for left in (*unfinished, f"{file}-wal", f"{file}-shm"):  # of a killed process, and of a file that was deleted
        Path(left).unlink(missing_ok=True)
    fresh = SqlAlchemyStore(sqlite_address(draft), (file.parent / ARTIFACTS).absolute().as_uri())
    fresh.delete_experiment("0")  # MLflow's `Default`, which would stay empty
    fresh.engine.dispose()
    with closing(sqlite3.connect(draft)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    draft.replace(file)


def correct_addresses(file: Path) -> None:
    """Write the addresses of artifacts that were moved or copied with the store: MLflow stores absolute ones."""
    here = (file.parent / ARTIFACTS).absolute()
    with closing(sqlite3.connect(file, timeout=_TIMEOUT)) as connection, connection:
        query = "SELECT artifact_location FROM experiments WHERE lifecycle_stage = 'active'"
        for (old,) in connection.execute(query).fetchall():
            before, _, name = old.rpartition(f"/{ARTIFACTS}/")
            new = f"{here.as_uri()}/{name}"
            if not before.startswith("file:") or new == old or not (here / unquote(name)).exists():
                continue
            for table, columns in _ADDRESSES.items():
                for column in columns:
                    update = f"UPDATE {table} SET {column} = ? || substr({column}, ?)"  # noqa: S608  fixed names
                    connection.execute(f"{update} WHERE instr({column}, ?) = 1", (new, len(old) + 1, old))
            _logger.warning("%s was moved: the addresses of its artifacts are corrected", file)


class TrackingUnavailable(RuntimeError):
    """The store cannot be reached or used; the message is one line."""

    def __init__(self, address: str, reason: Exception | str) -> None:
        text = reason if isinstance(reason, str) else first_line(reason)
        super().__init__(without_password(address), text)  # what `__init__` takes: processes pickle it

    def __str__(self) -> str:
        return "tracking store {}: {}".format(*self.args)


def project_root() -> Path:
    """The folder of `mlflow.db` and `runs/`: DVC_ROOT, else the nearest parent with `.dvc`, else the working directory.

    DVC runs `--temp` and `--queue` experiments in a temporary copy; DVC_ROOT names the original.
    """
    root = os.environ.get("DVC_ROOT")
    if root:
        return Path(root).resolve()
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / ".dvc").is_dir()), here)


def store_address(root: Path) -> str:
    """MLFLOW_TRACKING_URI, else `mlflow.db` in `root`; a relative sqlite path is relative to `root`.

    Raises InvalidOption for a folder, since MLflow's file store has no transactions.
    """
    address = os.environ.get("MLFLOW_TRACKING_URI") or "sqlite:///mlflow.db"
    if not _SCHEME.fullmatch(address):
        allowed = "the address of a database or server, e.g. sqlite:///mlflow.db, postgresql://… or http://…"
        raise InvalidOption("MLFLOW_TRACKING_URI", address, allowed)
    file = sqlite_file(address, root)
    return sqlite_address(file) if file else address


def artifact_folder(address: str, root: Path, experiment: str) -> str | None:
    """The address of the artifacts of a new experiment; None if the server decides.

    It is below MLFLOW_DEFAULT_ARTIFACT_ROOT (s3://… for machines that share a database), else below `mlartifacts`
    beside the sqlite file or in `root`. MLflow's own default is relative to the working directory.
    """
    if address.startswith(SERVERS):
        return None
    chosen = os.environ.get("MLFLOW_DEFAULT_ARTIFACT_ROOT")
    if chosen:
        return f"{chosen.rstrip('/')}/{experiment}"
    file = sqlite_file(address, root)
    return ((file.parent if file else root).absolute() / ARTIFACTS / experiment).as_uri()


def first_line(error: Exception) -> str:
    """The first line of the error's message, without passwords."""
    if isinstance(error, TrackingUnavailable):
        return error.args[1]
    lines = str(error).strip().splitlines()
    line = without_password(lines[0] if lines else repr(error))
    if "Max retries exceeded" in line:
        reason = _ERRNO.search(line)
        return f"does not answer ({reason[1].strip() if reason else 'timeout'}); start it, or correct its address"
    return next((f"{line}: {hint}" for cause, hint in _HINTS.items() if cause in line), line)


def quiet_environment() -> None:
    """Set the environment variables that MLflow reads at its import, e.g. to switch its telemetry off."""
    for key, value in _ENVIRONMENT.items():
        os.environ.setdefault(key, value)


def connect(address: str, file: Path | None) -> "MlflowClient":
    """MLflow's client for a store whose schema is made if need be; `file` is that of a sqlite store.

    On sqlite it is safe for processes that start together. Raises TrackingUnavailable.
    """
    quiet_environment()
    for name, level in _LOG_LEVELS.items():
        logging.getLogger(name).setLevel(level)
    try:
        with fast_imports():
            from mlflow import MlflowClient  # noqa: PLC0415  slow import; reads the environment

            if file and not _is_made(file):
                file.parent.mkdir(parents=True, exist_ok=True)
                with FileLock(f"{file}.lock", timeout=_TIMEOUT):
                    if not _is_made(file):
                        make_sqlite(file)
            if not address.startswith(SERVERS):
                _check_schema(address)
            client = MlflowClient(address)  # makes the schema of other databases
            if file:
                correct_addresses(file)
            return client
    except Exception as error:
        if file and "already exists" in str(error):
            error = StoreDamaged(f"the schema is incomplete, perhaps because a process was killed; move {file} away")
        raise TrackingUnavailable(address, error) from error


def _is_made(file: Path) -> bool:
    return file.exists() and file.stat().st_size > 0


def _check_schema(address: str) -> None:
    """Raise MLflow's error for a database of another version: MLflow would migrate some, and keep no copy."""
    from mlflow.store.db import utils  # noqa: PLC0415  imported with the client
    from sqlalchemy import NullPool, create_engine  # noqa: PLC0415  imported with the client

    engine = create_engine(address, poolclass=NullPool)
    if utils._get_schema_version(engine) is not None:  # pyright: ignore[reportPrivateUsage]
        utils._verify_schema(engine)  # pyright: ignore[reportPrivateUsage]
