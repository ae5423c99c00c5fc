"""Games that leave seats empty: the learner sits where somebody plays, and no seat of a table is favoured."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.games.catalogue import make_game
from cardlab.learners.rollouts.collector import Collector
from cardlab.learners.rollouts.opponents.options import ScriptedOptions
from cardlab.learners.rollouts.opponents.seats import bring_to_table
from cardlab.networks.options import MLPOptions


@settings(max_examples=30)
@given(st.integers(2, 9), st.integers(1, 40), st.integers(0, 999))
def test_the_learner_changes_places_only_from_an_empty_seat(num_players: int, num_games: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    seated = np.arange(num_players) < rng.integers(1, num_players + 1, size=(num_games, 1))
    seats = rng.integers(1, 5, size=(num_games, num_players)).astype(np.int8)
    seats[np.arange(num_games), rng.integers(num_players, size=num_games)] = 0
    after = seats.copy()
    bring_to_table(after, seated, rng)
    assert ((after == 0) & seated).any(axis=1).all()
    np.testing.assert_array_equal(np.sort(after, axis=1), np.sort(seats, axis=1))
    sat = ((seats == 0) & seated).any(axis=1)
    np.testing.assert_array_equal(after[sat], seats[sat])


def test_every_seat_of_a_small_table_is_as_likely() -> None:
    rng = np.random.default_rng(1)
    seats = np.ones((20_000, 9), dtype=np.int8)
    seats[np.arange(20_000), rng.integers(9, size=20_000)] = 0
    bring_to_table(seats, np.arange(9) < np.full((20_000, 1), 3), rng)
    np.testing.assert_allclose((seats == 0).mean(axis=0)[:3], 1 / 3, atol=0.015)


def test_the_learner_plays_in_every_game_of_some() -> None:
    """Among equals it wins as often as tables are small (0.42 by their chances), not one game in nine."""
    game = make_game("thirty_one", num_players=9, active_players="some", lives=1)
    agent = SoftmaxAgent(game, MLPOptions(widths=(8,)).build(game.spec))
    opponents = ScriptedOptions(agents={"random": 1.0}).build(game, lambda _: agent, agent.network)
    collector = Collector(game, agent, opponents, 64, np.random.default_rng(2))
    collector.collect(2000)  # the games that were under way when it began
    experience = collector.collect(2000)
    won = experience.payoffs[experience.seats == 0] > 0
    assert won.mean() > 0.3
