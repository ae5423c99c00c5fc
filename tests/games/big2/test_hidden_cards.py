"""The unseen cards are dealt by counts: uniformly, or exactly by weights."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from cardlab.agents.exploration import RandomAgent
from cardlab.games.array_checks import InvalidArray
from cardlab.games.big2.actions import DECK_CARD
from cardlab.games.big2.game import Big2
from cardlab.games.big2.hidden_cards import deal_log_likelihoods
from cardlab.games.big2.rules import HIDDEN, PLAYED, STATE_DTYPE
from cardlab.games.loop import play

GAME = Big2()
UNSEEN = [7, 20, 33, 51]  # in Big 2's order
COUNTS = [1, 3, 2, 1]  # of the owner, player 1, and of the others


def position(num_games):
    """Copies of a position in which player 1 knows its three cards and four are unseen, two of them of player 2."""
    states = np.zeros(num_games, dtype=STATE_DTYPE)
    states["place"] = PLAYED
    states["place"][:, UNSEEN] = HIDDEN
    states["place"][:, [1, 2, 3]] = 1
    states["counts"] = COUNTS
    return states


def dealt(states):
    """How often each way to deal the unseen cards came up."""
    return Counter(tuple(int(where) for where in row) for row in states["place"][:, UNSEEN])


def check_frequencies(found, expected, num_games):
    assert set(found) <= {way for way, probability in expected.items() if probability > 0}
    for way, probability in expected.items():
        error = (probability * (1 - probability) / num_games) ** 0.5
        assert abs(found[way] / num_games - probability) < 5 * error + 1e-9, way


WAYS = sorted(set(permutations([0, 2, 2, 3])))


def test_uniform():
    num_games = 24_000
    owner = np.ones(num_games, dtype=np.int8)
    states = GAME.determinize(position(num_games), owner, np.random.default_rng(0))
    check_frequencies(dealt(states), dict.fromkeys(WAYS, 1 / 12), num_games)


def chances(weights):
    """Probability of each way in proportion to its product of `weights` [4, 52]."""
    products = {
        way: np.prod([float(weights[who, DECK_CARD[card]]) for who, card in zip(way, UNSEEN, strict=True)])
        for way in WAYS
    }
    return {way: product / sum(products.values()) for way, product in products.items()}


@pytest.mark.parametrize("zeros", [False, True])
def test_by_weights(zeros):
    num_games = 24_000
    weights = np.random.default_rng(1).random((4, 52), dtype=np.float32)
    if zeros:
        weights[2, DECK_CARD[UNSEEN[0]]] = 0
        weights[[0, 3], DECK_CARD[UNSEEN[1]]] = 0
    every = np.repeat(weights[None], num_games, axis=0)
    owner = np.ones(num_games, dtype=np.int8)
    states = GAME.determinize(position(num_games), owner, np.random.default_rng(2), every)
    check_frequencies(dealt(states), chances(weights), num_games)


def test_likelihood_of_a_deal():
    """That of each way is its share of the products, and the deal of sure weights is certain."""
    states = np.repeat(position(1), len(WAYS))
    known = states.copy()
    for state, way in zip(states, WAYS, strict=True):
        state["place"][UNSEEN] = way
    weights = np.random.default_rng(6).random((4, 52), dtype=np.float32)
    found = deal_log_likelihoods(states, known, np.repeat(weights[None], len(WAYS), axis=0))
    expected = chances(weights)
    np.testing.assert_allclose(np.exp(found), [expected[way] for way in WAYS], rtol=1e-4)
    sure = (GAME.holders(states)[:, None, :] == np.arange(4)[None, :, None]).astype(np.float32)
    np.testing.assert_allclose(deal_log_likelihoods(states, known, sure), 0, atol=1e-6)


def test_weights_that_fit_no_deal_are_left_out():
    weights = np.zeros((200, 4, 52), dtype=np.float32)
    states = GAME.determinize(position(200), np.ones(200, dtype=np.int8), np.random.default_rng(3), weights)
    assert set(dealt(states)) == set(WAYS)


def test_sure_weights_give_back_the_deal():
    rng = np.random.default_rng(4)
    for game in (GAME, Big2(opening="choose")):
        states = game.deal(12, rng)
        for step, moves in enumerate(play(game, states, [RandomAgent(game)], rng)):
            players = np.full(len(states), step % 4, dtype=np.int8)
            weights = (game.holders(states)[:, None, :] == np.arange(4)[None, :, None]).astype(np.float32)
            known = game.information(states, players)
            assert game.determinize(known, players, rng, weights).tobytes() == states.tobytes()
            assert moves.rows.size


def test_a_seed_gives_one_deal():
    known = position(20)
    players = np.ones(20, dtype=np.int8)
    first, second = (GAME.determinize(known, players, np.random.default_rng(5)) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert (known["place"][:, UNSEEN] == HIDDEN).all()


def test_a_history_needs_all_cards():
    states = GAME.deal(2, np.random.default_rng(0))
    with pytest.raises(InvalidArray, match="states: must be complete"):
        GAME.history(GAME.information(states, np.zeros(2, dtype=np.int8)))
