"""Games with empty seats: the learner gets an occupied seat, each with equal probability."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.core.messages import InvalidOption
from cardlab.games.make_game import make_game
from cardlab.learners.rollouts.collector import Collector
from cardlab.learners.rollouts.opponents.fixed import ScriptedOptions
from cardlab.learners.rollouts.opponents.protocol import move_learner_to_occupied_seat
from cardlab.networks.mlp_options import MLPOptions


@settings(max_examples=30)
@given(st.integers(2, 9), st.integers(1, 40), st.integers(0, 999))
def test_the_learner_moves_from_empty_seats_only(num_players: int, num_games: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    occupied = np.arange(num_players) < rng.integers(1, num_players + 1, size=(num_games, 1))
    seats = rng.integers(1, 5, size=(num_games, num_players)).astype(np.int8)
    seats[np.arange(num_games), rng.integers(num_players, size=num_games)] = 0
    after = seats.copy()
    move_learner_to_occupied_seat(after, occupied, rng)
    assert ((after == 0) & occupied).any(axis=1).all()
    np.testing.assert_array_equal(np.sort(after, axis=1), np.sort(seats, axis=1))
    had_seat = ((seats == 0) & occupied).any(axis=1)
    np.testing.assert_array_equal(after[had_seat], seats[had_seat])


def test_occupied_seats_are_equally_likely() -> None:
    rng = np.random.default_rng(1)
    seats = np.ones((20_000, 9), dtype=np.int8)
    seats[np.arange(20_000), rng.integers(9, size=20_000)] = 0
    move_learner_to_occupied_seat(seats, np.arange(9) < np.full((20_000, 1), 3), rng)
    np.testing.assert_allclose((seats == 0).mean(axis=0)[:3], 1 / 3, atol=0.015)


def test_the_learner_plays_in_every_game() -> None:
    """Against equal opponents it wins 0.42 of the games, since most seats are empty; 1/9 without the move."""
    game = make_game("thirty_one", num_players=9, active_players="some", lives=1)
    agent = SoftmaxAgent(game, MLPOptions(widths=(8,)).build(game.spec))
    opponents = ScriptedOptions(agents={"random": 1.0}).build(game, lambda _: agent, agent.network)
    collector = Collector(game, agent, opponents, 64, np.random.default_rng(2))
    collector.collect(2000)  # includes the games that began in progress
    experience = collector.collect(2000)
    mine, empty = experience.seats == 0, experience.seats < 0
    assert (mine.sum(axis=1) == 1).all()
    assert (experience.payoffs[mine] > 0).mean() > 0.3
    assert empty.any()
    assert not (experience.payoffs[empty] > 0).any(), "no one wins at an empty seat"


def test_more_opponents_than_numbers_of_seats_are_refused() -> None:
    with pytest.raises(InvalidOption, match=r"opponents\.agents=.*: must be a mapping of at most 127 entries"):
        ScriptedOptions(agents={f"threshold:level:{level}": 1.0 for level in range(128)})
