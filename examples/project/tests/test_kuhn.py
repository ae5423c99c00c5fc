"""The game keeps its promises, and the learner learns."""

import numpy as np
import pytest

import cardlab

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


def test_a_player_knows_the_own_card_only():
    states = GAME.deal(20, np.random.default_rng(0))
    players = np.zeros(20, dtype=np.int8)
    known = GAME.information(states, players)
    elsewhere = GAME.determinize(known, players, np.random.default_rng(1))
    assert GAME.information(elsewhere, players).tobytes() == known.tobytes()
    assert (known["cards"][:, 1] == -1).all()


def test_the_cautious_agent_wins_against_random_play():
    match = cardlab.play_match(GAME, ["cautious", "random"], num_deals=2000, seed=0)
    assert match.interval[0] > 0
