"""studies/known_games: its page shows the results, and OpenSpiel's learners are trained and measured as it says."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
import torch
from omegaconf import OmegaConf
from open_spiel.python.algorithms.exploitability import exploitability
from open_spiel.python.policy import Policy
from open_spiel.python.pytorch.ppo import PPO, PPOAgent
from open_spiel.python.rl_environment import Environment

import cardlab

STUDY = Path(__file__).parents[2] / "studies" / "known_games"
sys.path.insert(0, str(STUDY))  # scripts of a study import only from their own folder

from draw_known_games import TITLES, page_text, read_results, short_table  # noqa: E402
from known_games import LEARNERS, PARAMS, TreeSearch, measured  # noqa: E402
from open_spiel_learners import STREAMS, Rollout, learn  # noqa: E402


def test_the_pages_have_the_tables_of_the_results() -> None:
    results = read_results()
    assert set(results) <= set(TITLES) == set(PARAMS["games"])
    page = (STUDY / "README.md").read_text(encoding="utf-8").splitlines()
    assert not [line for line in short_table(results) if line not in page]
    assert (STUDY / "tables.md").read_text(encoding="utf-8") == page_text(results)


def test_the_results_are_those_of_the_budgets() -> None:
    stages: Any = OmegaConf.load(STUDY / "dvc.yaml").stages
    assert {f"studies/known_games/{name}.svg" for name in TITLES} <= {key for out in stages.tables.outs for key in out}
    for name, rows in read_results().items():
        options = PARAMS["games"][name]
        assert set(rows) == set(options["decisions"]) == set(LEARNERS)
        for learner, seeds in rows.items():
            assert {int(seed) for seed in seeds} <= {*options["seeds"]}
            for points in seeds.values():
                assert len(points) == len(PARAMS["points"])
                assert points[-1]["decisions"] == pytest.approx(options["decisions"][learner], rel=0.02)


class OfState(Policy):
    """The policy of an agent, asked as OpenSpiel asks."""

    def __init__(self, agent: Any, game: Any) -> None:
        super().__init__(game, [0, 1])
        self.agent = agent

    def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:
        legal = np.array(state.legal_actions_mask(), dtype=np.bool_)[None]
        tensor = np.array(state.information_state_tensor(), dtype=np.float32)[None]
        found = self.agent.chances(tensor, legal, np.array([state.current_player()]))[0]
        return {action: found[action] for action in state.legal_actions()}


@pytest.mark.parametrize("learner", ["open_spiel_ppo", "open_spiel_nfsp", "open_spiel_rpg"])
def test_a_learner_of_open_spiel_learns_and_is_measured_by_its_own_exploitability(learner: str) -> None:
    if learner == "open_spiel_nfsp":
        pytest.importorskip("tree", reason="NFSP needs dm-tree")
    game = cardlab.make_game("open_spiel", text="kuhn_poker")
    points = list(learn(game, learner, 2048, 3, [1000, 2048]))
    assert [done >= mark for (done, _, _), mark in zip(points, (1000, 2048), strict=True)] == [True, True]
    assert 0 < points[0][1] < points[1][1]
    agent = points[-1][2]
    value = measured(game, agent, {"text": "kuhn_poker"})["exploitability"]
    library = pyspiel.load_game("kuhn_poker")
    assert value == pytest.approx(exploitability(library, OfState(agent, library)), abs=1e-5)
    again = [*learn(game, learner, 2048, 3, [1000, 2048])][-1][2]
    assert measured(game, again, {"text": "kuhn_poker"}) == {"exploitability": value}


def test_the_buffer_of_the_librarys_ppo_holds_whole_games_seat_by_seat() -> None:
    torch.manual_seed(1)
    rows = 8
    agent = PPO((30,), 3, 2, 0, STREAMS, rows, agent_fn=PPOAgent)
    rollout = Rollout([Environment("leduc_poker") for _ in range(8)], agent, 3)
    while len(rollout.ready) <= rows * STREAMS:
        rollout.step()
    behind = rollout.fill()
    flat = {name: getattr(agent, name).transpose(0, 1).flatten(0, 1) for name in ("obs", "actions", "logprobs")}
    masks = agent.legal_actions_mask.transpose(0, 1).flatten(0, 1)
    with torch.no_grad():
        logs = agent.get_action_and_value(flat["obs"], masks, flat["actions"])[1]
    assert torch.allclose(logs, flat["logprobs"], atol=1e-6)
    assert ((agent.rewards != 0) <= (agent.dones == 1)).all()
    seats, done = flat["obs"][:, :2].argmax(dim=1), agent.dones.transpose(0, 1).flatten()
    assert (seats[1:] == seats[:-1])[done[:-1] == 0].all()
    following = torch.tensor(np.array([step.observations["info_state"][0] for step in behind]))
    assert torch.equal(following[:-1], agent.obs[0, 1:])


def test_the_tree_search_is_asked_in_both_seats() -> None:
    game = cardlab.make_game("open_spiel", text="tic_tac_toe")
    search = TreeSearch("tic_tac_toe", 50)
    match = cardlab.play_match(game, [search, "random"], num_deals=10, seed=1)
    assert match.mean > 0.5
