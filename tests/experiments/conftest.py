import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from cardlab.agents.policy_files import describe, save_policy
from cardlab.games.make_game import make_game
from cardlab.networks.mlp_options import MLPOptions
from cardlab.tracking import Store
from plays import PLAYS


@pytest.fixture
def root(fresh_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory and root of a project, with an empty store and no champions, its own or shipped."""
    shutil.copyfile(fresh_database, tmp_path / "mlflow.db")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    monkeypatch.setattr("cardlab.agents.specs._PACKAGE", tmp_path / "src" / "cardlab")
    return tmp_path


@pytest.fixture
def store(root: Path) -> Store:
    return Store()


@pytest.fixture
def untrained(root: Path) -> Callable[..., Path]:
    """Writes the policy of a fresh small network to models/NAME."""

    def write(name: str, game: str = "poker_squares", seed: int = 0, **options: object) -> Path:
        torch.manual_seed(seed)
        built, network = make_game(game, **options), MLPOptions(widths=(8,))
        folder = Path("models", name)
        save_policy(folder, describe(built, network, PLAYS["action_value"], {}), network.build(built.spec))
        return folder

    return write
