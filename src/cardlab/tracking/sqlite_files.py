"""The sqlite file of a store: its address, how it is made and migrated, and artifacts that moved with it."""

import atexit
import logging
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import quote, unquote, urlsplit

from cardlab.core.options import InvalidOption

ARTIFACTS = "mlartifacts"
"""Folder of the artifacts, beside the file."""

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


_LARGE = 64_000_000  # bytes of a file that takes seconds to check
_VERIFY = """
import os, sqlite3, sys
file, run, large = sys.argv[1:]
connection = sqlite3.connect(file, timeout=60)
if os.path.getsize(file) < int(large):
    assert connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
assert connection.execute("SELECT 1 FROM runs WHERE run_uuid = ? AND end_time IS NOT NULL", (run,)).fetchone()
print(connection.execute("SELECT count(*) FROM latest_metrics WHERE run_uuid = ?", (run,)).fetchone()[0])
"""


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


def prepare_sqlite(file: Path) -> None:
    """Make the store if it is missing, else migrate it if need be, and correct the addresses of moved artifacts.

    Write-ahead logging is on: readers do not block the writer. MLflow is imported. Raises StoreDamaged.
    """
    if not (file.exists() and file.stat().st_size):
        _make(file)
        return
    if is_outdated(sqlite_address(file)):
        with_new_schema, kept = migrated_copy(file, _draft(file)), file.with_name(f"{file.name}.before-migration")
        _copy(file, kept)
        _copy(with_new_schema, file)  # one transaction: a kill leaves the old schema
        with_new_schema.unlink()
        _logger.warning("%s was written by an older MLflow and is migrated; %s is a copy from before", file, kept)
    _write_ahead(file)
    _move_addresses(file)


def is_outdated(address: str) -> bool:
    """Whether another version of MLflow wrote the schema of the database; False if the schema is not complete."""
    from mlflow.store.db import utils  # noqa: PLC0415  already imported by MLflow
    from sqlalchemy import NullPool, create_engine  # noqa: PLC0415  already imported by MLflow

    found = utils._get_schema_version(create_engine(address, poolclass=NullPool))  # pyright: ignore[reportPrivateUsage]
    return found not in (None, utils._get_latest_schema_revision())  # pyright: ignore[reportPrivateUsage]


def readable_address(file: Path) -> str:
    """The address that reads `file` and never writes it; that of a migrated copy if an older MLflow wrote the file."""
    if is_outdated(sqlite_address(file)):
        scratch = Path(mkdtemp(prefix="cardlab-store-"))
        atexit.register(shutil.rmtree, scratch, ignore_errors=True)
        _logger.warning("%s was written by an older MLflow: this command reads a migrated copy", file)
        return sqlite_address(migrated_copy(file, scratch / file.name))
    return f"sqlite+pysqlite:///file:{quote(quote(str(file)))}?mode=ro&uri=true"


def migrated_copy(file: Path, target: Path) -> Path:
    """Copy the store to `target` and migrate it there. Raises StoreDamaged for the schema of a newer MLflow."""
    from alembic.util import CommandError  # noqa: PLC0415  already imported by MLflow
    from mlflow.store.db import utils  # noqa: PLC0415

    _copy(file, target)
    engine = utils.create_sqlalchemy_engine(sqlite_address(target))
    try:
        utils._upgrade_db(engine)  # pyright: ignore[reportPrivateUsage]  as `mlflow db upgrade` does
    except CommandError as error:
        raise StoreDamaged(f"{file} was written by a newer version of MLflow; install that version") from error
    finally:
        engine.dispose()
    return target


def moved_address(address: str, file: Path) -> str:
    """The address of artifacts beside the store `file`, where `address` is from before the folder was moved or copied.

    MLflow stores absolute addresses. One that still exists stays, unless its copy lies beside the store.
    """
    before, _, rest = address.rpartition(f"/{ARTIFACTS}/")
    here = (file.parent / ARTIFACTS).absolute()
    if not before.startswith("file:") or os.environ.get("MLFLOW_DEFAULT_ARTIFACT_ROOT"):
        return address
    experiment = unquote(rest.split("/")[0])
    there = Path(unquote(urlsplit(before).path), ARTIFACTS, experiment)
    return f"{here.as_uri()}/{rest}" if (here / experiment).exists() or not there.exists() else address


def verify(file: Path, run_id: str, metrics: int) -> None:
    """Raise StoreDamaged unless another process reads the run with this number of metrics from an undamaged file.

    This process cannot find out: it has its own view of a file that was truncated or overwritten under its hands.
    """
    command = [sys.executable, "-I", "-S", "-c", _VERIFY, str(file), run_id, str(_LARGE)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except (OSError, subprocess.SubprocessError):
        return
    if not done.stdout.strip().isdigit() or int(done.stdout) < metrics:
        raise StoreDamaged(f"{file} was damaged or overwritten while in use; move it away, or restore a copy")


def _make(file: Path) -> None:
    """Make the store under another name, then move it: a killed process leaves no incomplete one."""
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore  # noqa: PLC0415  already imported by MLflow

    draft = _draft(file)
    fresh = SqlAlchemyStore(sqlite_address(draft), (file.parent / ARTIFACTS).absolute().as_uri())
    fresh.delete_experiment("0")  # MLflow's `Default`, which would stay empty
    fresh.engine.dispose()
    _write_ahead(draft)
    for left in ("wal", "shm"):  # of a file that was deleted
        Path(f"{file}-{left}").unlink(missing_ok=True)
    draft.replace(file)


def _draft(file: Path) -> Path:
    """A file name beside `file`, without what a killed process left there."""
    draft = file.with_name(f"{file.name}.new")
    for left in file.parent.iterdir():
        if left.name.startswith(draft.name):
            left.unlink()
    return draft


def _copy(source: Path, target: Path) -> None:
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target, timeout=_TIMEOUT)) as new:
        old.backup(new)


def _write_ahead(file: Path) -> None:
    """Switch on write-ahead logging. Raises StoreDamaged if the address of the file leads to another file."""
    from sqlalchemy import NullPool, create_engine  # noqa: PLC0415  already imported by MLflow

    engine = create_engine(sqlite_address(file), poolclass=NullPool, connect_args={"timeout": _TIMEOUT})
    with engine.connect() as connection:
        opened = str(connection.exec_driver_sql("PRAGMA database_list").one()[2])
        if not os.path.samefile(opened, file):
            raise StoreDamaged(f"{file}: its address leads to {opened}; rename the folder")
        connection.exec_driver_sql("PRAGMA journal_mode=WAL")


def _move_addresses(file: Path) -> None:
    with closing(sqlite3.connect(file, timeout=_TIMEOUT)) as connection, connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'logged_models'").fetchone():
            return  # an incomplete schema, which MLflow reports
        query = "SELECT artifact_location FROM experiments WHERE lifecycle_stage = 'active'"
        locations = [str(row[0]) for row in connection.execute(query)]
        if all(moved_address(each, file) == each for each in locations):
            return
        connection.create_function("moved", 1, lambda each: moved_address(each or "", file) or each)
        for table, columns in _ADDRESSES.items():
            for column in columns:
                connection.execute(f"UPDATE {table} SET {column} = moved({column})")  # noqa: S608  fixed names
    _logger.warning("%s was moved: the addresses of its artifacts are corrected", file)
