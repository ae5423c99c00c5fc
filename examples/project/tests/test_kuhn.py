"""The parts keep the protocols of cardlab, and the game its rules."""

import numpy as np
import pytest
from my_cards.network import TinyOptions
from my_cards.reinforce import ReinforceOptions

import cardlab
from cardlab.testing import GAME_CHECKS, check_agent, check_learner, check_network

GAME = cardlab.make_game("kuhn")


@pytest.mark.parametrize(
    ("cards", "moves", "paid"),
    [
        ((2, 0), (0, 0), 1),  # both pass: the higher card wins the antes
        ((0, 2), (1, 0), 1),  # a bet that nobody calls
        ((0, 2), (1, 1), -2),  # a call
        ((2, 1), (0, 1, 0), -1),
        ((2, 1), (0, 1, 1), 2),
    ],
)
def test_what_is_paid(cards, moves, paid):
    states = GAME.deal(1, np.random.default_rng(0))
    states["cards"] = cards
    for move in moves:
        assert not GAME.is_over(states).any()
        GAME.apply(states, np.array([move], dtype=np.int16))
    assert GAME.is_over(states).all()
    assert GAME.payoffs(states).tolist() == [[paid, -paid]]


@pytest.mark.parametrize("check", GAME_CHECKS)
def test_the_game_keeps_the_protocol(check):
    check(GAME, seed=0)


def test_the_agent_the_network_and_the_learner_keep_theirs():
    check_agent(GAME, cardlab.load_agent(GAME, "cautious"))
    check_network(GAME, TinyOptions())
    check_learner(GAME, ReinforceOptions(decisions_per_iteration=128, minibatch_size=64), TinyOptions())


def test_the_cautious_agent_wins_against_random_play():
    match = cardlab.play_match(GAME, ["cautious", "random"], num_deals=2000, seed=0)
    assert match.interval[0] > 0
