"""Exact endgames against the plain definition, and averages over deals against enumeration."""

from itertools import permutations

import numpy as np
import pytest

from cardlab.games.big2.actions import NUM_ACTIONS
from cardlab.games.big2.endgame import MAX_CARDS_LEFT, action_values, solvable
from cardlab.games.big2.game import Big2
from cardlab.games.big2.rules import HIDDEN, OVER, PLAYED, STATE_DTYPE
from cardlab.games.protocol import InfoStates, States
from games.big2.slow_endgame import best_payoffs, payoffs_after


def endgame(rng, counts, cards):
    """A record [1] in which so many of `cards` are left to the players, and somebody decides."""
    state = np.zeros(1, dtype=STATE_DTYPE)
    state["place"] = PLAYED
    drawn = rng.permutation(cards)[: sum(counts)]
    state["place"][0, drawn] = np.repeat(np.arange(4), counts)
    state["counts"] = counts
    state["opener"] = rng.integers(4)
    state["kind"] = rng.integers(-1, 9) if rng.random() < 0.3 else rng.integers(-1, 2)
    state["key"] = rng.integers(0, 40) if state["kind"][0] >= 0 else -1
    state["passes"] = rng.integers(3) if state["kind"][0] >= 0 else 0
    return States(state)


def sure(game, states):
    """Weights [G, 4, 52] that give back who holds what."""
    return (game.holders(states)[:, None, :] == np.arange(4)[None, :, None]).astype(np.float32)


def check_deal(game, state):
    """The values of all actions with open hands; how many there are."""
    player = game.current_player(state)
    known = game.information(state, player)
    values = action_values(known, player, np.random.default_rng(0), 2, game.spec.options, sure(game, state))[0]
    legal = game.legal_actions(state)[0]
    np.testing.assert_array_equal(np.isfinite(values), legal)
    memory = {}
    for action in np.flatnonzero(legal):
        assert values[action] == payoffs_after(game, state, action, memory)[player[0]], game.render(state[0])
    return int(legal.sum())


@pytest.mark.parametrize(
    ("options", "ranks", "most"),
    [
        ({}, 13, 3),
        ({}, 4, 3),  # few ranks: pairs, threes, full houses
        ({"penalty": "doubled", "straight_flush": "unbeatable"}, 13, 3),
    ],
)
def test_small_deals_by_the_plain_definition(options, ranks, most):
    game = Big2(**options)
    rng = np.random.default_rng(ranks)
    cards = np.arange(1, 52) if ranks == 13 else np.arange(12, 12 + 4 * ranks)
    checked = 0
    for _ in range(24):
        counts = rng.integers(1, most + 1, size=4)
        checked += check_deal(game, endgame(rng, counts, cards))
    assert checked > 32


@pytest.mark.parametrize("counts", [(6, 1, 2, 1), (5, 5, 1, 1)])
def test_long_hands_by_the_plain_definition(counts):
    """One suit and close ranks: straights, flushes, straight flushes."""
    game = Big2()
    rng = np.random.default_rng(7)
    for _ in range(6):
        check_deal(game, endgame(rng, counts, np.arange(4, 40, 4) if sum(counts) < 10 else np.arange(4, 24)))


def test_doubled_payoffs():
    game = Big2(penalty="doubled")
    check_deal(game, endgame(np.random.default_rng(3), (1, 1, 10, 1), np.arange(1, 52)))


def test_values_are_means_over_deals():
    game = Big2()
    rng = np.random.default_rng(5)
    state = endgame(rng, (2, 3, 1, 1), np.arange(8, 52))
    state["opener"], state["kind"], state["key"], state["passes"] = 1, -1, -1, 0
    player = game.current_player(state)
    known = game.information(state, player)
    values = action_values(known, player, rng, 6000)[0]
    unseen = np.flatnonzero(known["place"][0] == HIDDEN)
    found = {action: [] for action in np.flatnonzero(np.isfinite(values))}
    for way in sorted(set(permutations([0, 0, 2, 3]))):
        deal = States(known.copy())
        deal["place"][0, unseen] = way
        for action, worths in found.items():
            worths.append(payoffs_after(game, deal, action, {})[1])
    for action, worths in found.items():
        assert values[action] == pytest.approx(np.mean(worths), abs=float(5 * np.std(worths) / 6000**0.5) + 1e-4)


def test_the_best_action_value_is_the_value_of_the_position():
    game = Big2()
    rng = np.random.default_rng(6)
    state = endgame(rng, (2, 2, 2, 2), np.arange(1, 52))
    player = game.current_player(state)
    values = action_values(game.information(state, player), player, rng, 1, weights=sure(game, state))
    assert values.max() == best_payoffs(game, state, {})[player[0]]


def test_what_is_solvable():
    few, many, over = (endgame(np.random.default_rng(1), (3, 3, 3, 3), np.arange(52)) for _ in range(3))
    many["counts"] = MAX_CARDS_LEFT // 4 + 1
    over["phase"] = OVER
    states = InfoStates(np.concatenate([few, many, over]))
    np.testing.assert_array_equal(solvable(states, np.zeros(3, dtype=np.int8)), [True, False, False])


def test_a_seed_gives_one_answer():
    game = Big2()
    state = endgame(np.random.default_rng(2), (3, 3, 3, 3), np.arange(52))
    player = game.current_player(state)
    known = game.information(state, player)
    first, second = (action_values(known, player, np.random.default_rng(9), 20) for _ in range(2))
    assert first.shape == (1, NUM_ACTIONS)
    np.testing.assert_array_equal(first, second)
