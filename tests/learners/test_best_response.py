"""Learners that train against others find the best response to the uniform player of Kuhn poker, known by counting."""

from itertools import product
from pathlib import Path

import pytest

from cardlab.agents.policy_files import load_policy
from cardlab.training.run import train
from learners.kuhn_training import AGENTS, kuhn_experiment, policy_of
from small_games.kuhn import Kuhn, best_response, expected_value, uniform_policy


def quiet(_: str) -> None:
    """Print nothing."""


LEARNERS = [agent for agent in AGENTS if agent != "policy_iteration"]  # it plays rollouts out against itself
ROUNDS = {"ppo": 30, "dqn": 20, "td": 40}
QUICK = [("ppo", "mlp"), ("dqn", "mlp"), ("td", "mlp")]


@pytest.mark.parametrize(
    ("agent", "network"),
    [
        pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow)
        for case in [*product(LEARNERS, ("mlp", "actions")), ("ppo", "proto_action")]
    ],
)
def test_the_best_response_is_learned_exactly(agent: str, network: str, tmp_path: Path) -> None:
    experiment = kuhn_experiment(agent, network=network, rounds=ROUNDS[agent.partition("_")[0]])
    trained = train(experiment, run_dir=tmp_path / "run", model_dir=tmp_path / "model", report=quiet)
    policy = policy_of(load_policy(Kuhn(), trained.folder))
    uniform = uniform_policy()
    best = [best_response(uniform, player)[1] for player in (0, 1)]
    assert expected_value((policy, uniform)) == pytest.approx(best[0])
    assert -expected_value((uniform, policy)) == pytest.approx(best[1])
