import shutil
from pathlib import Path

import pytest

from cardlab.tracking import Store


@pytest.fixture
def root(fresh_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of a project, with an empty store, and the working directory."""
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copyfile(fresh_database, folder / "mlflow.db")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("DVC_ROOT", str(folder))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def store(root: Path) -> Store:
    return Store()
