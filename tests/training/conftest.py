"""What the tests of stretches and of starts go on from."""

from pathlib import Path

import pytest

from cardlab.training.run import Trained
from training.continuing import experiment_of, run


@pytest.fixture(params=["ppo", "dqn", "td", "policy_iteration"])
def agent(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def first(agent: str, tmp_path: Path) -> Trained:
    return run(experiment_of(agent), tmp_path / "first")
