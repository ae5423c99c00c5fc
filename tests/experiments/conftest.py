import shutil
from pathlib import Path

import pytest


@pytest.fixture
def root(fresh_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory and root of a project, with an empty store and no champions, its own or shipped."""
    shutil.copyfile(fresh_database, tmp_path / "mlflow.db")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.setattr("cardlab.agents.policy_paths._PACKAGE", tmp_path / "src" / "cardlab")
    return tmp_path
