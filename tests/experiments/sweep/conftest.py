import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cardlab.tracking import Store


@pytest.fixture(scope="session")
def fresh_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with its schema and nothing else: writing one takes seconds, copying it none."""
    root = tmp_path_factory.mktemp("fresh")
    Store(f"sqlite:///{root}/mlflow.db", root).client.search_experiments()
    with closing(sqlite3.connect(root / "mlflow.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return root / "mlflow.db"


@pytest.fixture
def root(fresh_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory and root of a project, with an empty store."""
    shutil.copyfile(fresh_database, tmp_path / "mlflow.db")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    return tmp_path
