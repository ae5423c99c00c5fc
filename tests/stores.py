"""MLflow stores for tests: one is made once a session, copies of it cost nothing."""

import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cardlab.games.make_game import make_game
from cardlab.tracking import Store
from shared_folders import make_once


@pytest.fixture(scope="session")
def fresh_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with its schema and nothing else: writing one takes seconds, copying it none."""
    return make_once(tmp_path_factory, "fresh", write_store) / "mlflow.db"


def write_store(root: Path) -> None:
    Store(f"sqlite:///{root}/mlflow.db", root).client.search_experiments()
    truncate_log(root)


def truncate_log(root: Path) -> None:
    """Move all of the store into its one file, which can then be copied."""
    with closing(sqlite3.connect(root / "mlflow.db")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@pytest.fixture
def root(fresh_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a project, with an empty store."""
    shutil.copyfile(fresh_database, tmp_path / "mlflow.db")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    return tmp_path


@pytest.fixture
def store(root: Path) -> Store:
    return Store()


def untrained_policy(folder: Path) -> Path:
    """A small policy of Poker Squares with fresh weights."""
    from cardlab.agents.policy_files import describe, save_policy  # noqa: PLC0415  imports torch
    from cardlab.networks.mlp_options import MLPOptions  # noqa: PLC0415
    from plays import PLAYS  # noqa: PLC0415

    game, options = make_game("poker_squares"), MLPOptions(widths=(8,))
    save_policy(folder, describe(game, options, PLAYS["softmax"], {}), options.build(game.spec))
    return folder


class Lost:
    """A client behind a network that can be cut, before or after the request has arrived, or that hangs."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.cut = ""
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.client, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            while self.cut == "hangs":
                time.sleep(0.01)
            if self.cut == "before":
                raise ConnectionError("no route to host")
            result = method(*args, **kwargs)
            if self.cut == "after":
                raise ConnectionError("answer lost")
            return result

        return call
