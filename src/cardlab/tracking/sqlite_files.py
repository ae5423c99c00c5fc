"""The sqlite file of a store: its address, how it is made, and what may happen to it."""

import logging
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, unquote

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


def verify(file: Path, run_id: str, metrics: int) -> None:
    """Raise StoreDamaged unless another process reads the run with this number of metrics from an undamaged file.

    This process cannot find out: it keeps its own view of a file that is overwritten while this process has it open.
    """
    command = [sys.executable, "-I", "-S", "-c", _VERIFY, str(file), run_id, str(_LARGE)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except (OSError, subprocess.SubprocessError):
        return
    if not done.stdout.strip().isdigit() or int(done.stdout) < metrics:
        raise StoreDamaged(f"{file} was damaged or overwritten while in use; move it away, or restore a copy")
