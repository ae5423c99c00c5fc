"""Opponents with at most one seat in a game each."""

import numpy as np
import pytest

from cardlab.core.messages import InvalidOption
from cardlab.games.make_game import make_game
from cardlab.learners.rollouts.opponents.fixed import ScriptedOptions
from cardlab.networks.mlp_options import MLPOptions

GAME = make_game("thirty_one", num_players=3)


def opponents(**weights: float):
    network = MLPOptions(widths=(4,)).build(GAME.spec)
    return ScriptedOptions(weights, distinct=True).build(GAME, lambda _: None, network)


def test_every_agent_has_one_seat_at_random():
    seats = opponents(greedy=1.0, random=1.0).assign_seats(600, 3, np.random.default_rng(0))
    assert (np.sort(seats, axis=1) == [0, 1, 2]).all()
    for seat in range(3):
        assert np.bincount(seats[:, seat]) == pytest.approx([200, 200, 200], abs=60)


def test_agents_are_drawn_by_weight():
    seats = opponents(greedy=8.0, random=1.0, threshold=1.0).assign_seats(2000, 3, np.random.default_rng(0))
    shares = [(seats == agent).any(axis=1).mean() for agent in (1, 2, 3)]
    assert shares[0] == pytest.approx(0.8 + 0.2 * 8 / 9, abs=0.03)
    assert shares[1] == pytest.approx(shares[2], abs=0.05)


def test_an_agent_of_weight_zero_is_never_drawn():
    seats = opponents(greedy=1.0, random=0.0, threshold=1.0).assign_seats(100, 3, np.random.default_rng(0))
    assert not (seats == 2).any()


def test_too_few_agents_raise_an_error():
    with pytest.raises(InvalidOption, match=r"opponents\.distinct=true: must be false with fewer than 2 agents"):
        opponents(greedy=1.0, random=0.0)
