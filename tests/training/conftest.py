"""What the tests of continuations and of starts begin with."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from cardlab.training.run import Trained
from training.continuing import experiment_of, run


@pytest.fixture(params=["ppo", "dqn", "td", "policy_iteration"])
def agent(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="session")
def train_first(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Trained]:
    """The first training with an agent, done once."""
    return cache(lambda agent: run(experiment_of(agent), tmp_path_factory.mktemp(agent)))


@pytest.fixture
def first(agent: str, train_first: Callable[[str], Trained], tmp_path: Path) -> Trained:
    """A copy of the first training, which a test may change."""
    trained = train_first(agent)
    root = shutil.copytree(trained.folder.parent, tmp_path / "first")
    paths = {name: root / path.name for name, path in vars(trained).items() if isinstance(path, Path)}
    for name in ("checkpoint", "continuation", "snapshots"):
        paths[name] = root / "run" / paths[name].name
    return replace(trained, **paths)
