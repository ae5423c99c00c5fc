"""Exact Big 2 endgames on one core: what a decision costs by the number of cards left, 32 sampled deals each."""

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from cardlab.agents.registry import make_agent
from cardlab.games.big2.endgame import action_values
from cardlab.games.big2.game import Big2
from cardlab.games.loop import play
from cardlab.games.protocol import InfoStates, Players

NUM_SAMPLES = 32
NUM_DECISIONS = 40


def decisions(game: Big2, cards_left: int) -> tuple[InfoStates, Players]:
    """Decisions of planners with so many cards left."""
    rng = np.random.default_rng(0)
    states = game.deal(400, rng)
    found: list[tuple[InfoStates, Players]] = []
    for moves in play(game, states, [make_agent(game, "planner")], rng):
        here = moves.queried & (moves.info_states["counts"].sum(axis=1) == cards_left)
        found.append((InfoStates(moves.info_states[here]), moves.players[here]))
    info_states = np.concatenate([info_states for info_states, _ in found])[:NUM_DECISIONS]
    return InfoStates(info_states), np.concatenate([players for _, players in found])[:NUM_DECISIONS]


@pytest.mark.parametrize("cards_left", [8, 10, 12, 14])
def test_milliseconds_per_decision(benchmark: BenchmarkFixture, cards_left: int) -> None:
    game, rng = Big2(), np.random.default_rng(1)
    info_states, players = decisions(game, cards_left)
    benchmark.pedantic(lambda: action_values(info_states, players, rng, NUM_SAMPLES), rounds=3, warmup_rounds=1)
    benchmark.extra_info["milliseconds_per_decision"] = round(1e3 * benchmark.stats.stats.min / len(players), 3)
