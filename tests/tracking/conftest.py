import shutil
from pathlib import Path

import pytest

from cardlab.tracking import Store


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
