"""MLflow stores for tests: one is made once a session, copies of it cost nothing."""

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
