"""Scripted agents play legally wherever a game can get: searches take them where they would never have led it."""

import numpy as np
import pytest

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.registry import agent_names, make_agent
from cardlab.agents.specs import SEARCHES
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.games.record_arrays import take
from games.variants import VARIANTS

SLOW = {"expectiminimax": 1, "column_monte_carlo": 4, "hindsight_fills": 2, "random_fills": 2, "planner": 32}
"""How many positions of a step are enough for agents that think."""
SPARED = {*SEARCHES, "endgame", "tree_search"}  # what they search around is what is tested here


def pairs() -> list[tuple[str, str]]:
    return [(game, agent) for game in VARIANTS for agent in agent_names(make_game(game)) if agent not in SPARED]


@pytest.mark.parametrize(("name", "text"), pairs())
def test_a_scripted_agent_is_legal_after_random_play(name: str, text: str) -> None:
    game, rng = make_game(name), np.random.default_rng(11)
    agent, most = make_agent(game, text), SLOW.get(text, 128)
    for number, moves in enumerate(play(game, game.deal(128, rng), [RandomAgent(game)], rng)):
        if number % 3 and text in SLOW:
            continue
        rows = np.arange(len(moves.players))[:most]
        info_states, players = take(moves.info_states, rows), moves.players[rows]
        actions = agent.act(info_states, players, rng)
        assert game.legal_actions(info_states)[rows, actions].all()
        if number > 120:
            break
