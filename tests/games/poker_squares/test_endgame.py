"""The last placements of Poker Squares against plain enumeration."""

import numpy as np
import pytest

from cardlab.agents.registry import make_agent
from cardlab.games.loop import play
from cardlab.games.poker_squares.endgame import MAX_PLACEMENTS, action_values, solvable
from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.protocol import InfoStates
from games.poker_squares.slow_rules import AMERICAN, BRITISH, grid_value

RNG = np.random.default_rng(0)


def positions(game, left, tables, seed):
    """Decisions of the flush agent with `left` placements to come, the current one included."""
    rng = np.random.default_rng(seed)
    states = game.deal(tables, rng)
    for done, moves in enumerate(play(game, states, [make_agent(game, "flush")], rng, ask_forced=True)):
        if done == 25 - left:
            return moves.info_states, moves.players
    raise AssertionError


def value_of(grid, card, unseen, scores):
    """{cell: expected final score} under optimal later play."""
    values = {}
    for cell in [cell for cell in range(25) if grid[cell] is None]:
        placed = [*grid[:cell], card, *grid[cell + 1 :]]
        if None not in placed:
            values[cell] = grid_value(placed, scores)
            continue
        best = [
            max(value_of(placed, drawn, [other for other in unseen if other != drawn], scores).values())
            for drawn in unseen
        ]
        values[cell] = sum(best) / len(best)
    return values


@pytest.mark.parametrize(("scoring", "scores"), [("american", AMERICAN), ("british", BRITISH)])
@pytest.mark.parametrize(("left", "tables"), [(1, 5), (2, 5), (3, 1)])
def test_values_are_those_of_all_orders(scoring, scores, left, tables):
    game = PokerSquares(scoring=scoring)
    info_states, players = positions(game, left, tables, left)
    values = action_values(info_states, players, RNG, 0, game.spec.options)
    for g in range(tables):
        grid = [int(card) if card >= 0 else None for card in info_states[g]["grid"]]
        card = int(info_states[g]["deck"][25 - left])
        unseen = [other for other in range(52) if other not in grid and other != card]
        plain = value_of(grid, card, unseen, scores)
        assert np.flatnonzero(np.isfinite(values[g])).tolist() == list(plain)
        for cell, value in plain.items():
            assert values[g, cell] == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize("left", [2, 3, 4])
def test_a_value_is_the_mean_of_the_best_that_may_follow(left):
    game = PokerSquares()
    info_states, players = positions(game, left, 5, 10 + left)
    values = action_values(info_states, players, RNG, 0)
    for g in range(5):
        for cell in np.flatnonzero(np.isfinite(values[g])):
            after = InfoStates(info_states[g : g + 1].copy())
            game.apply(after, np.array([cell], dtype=np.int16))
            seen = set(after[0]["grid"].tolist())
            unseen = [card for card in range(52) if card not in seen]
            many = InfoStates(np.repeat(after, len(unseen)))
            many["deck"][:, 26 - left] = unseen
            later = action_values(many, np.zeros(len(many), dtype=np.int8), RNG, 0).max(axis=1)
            assert values[g, cell] == pytest.approx(later.mean(), abs=1e-3)


def test_solvable_is_what_is_quick_enough():
    game = PokerSquares()
    for left in (1, MAX_PLACEMENTS, MAX_PLACEMENTS + 1):
        info_states, players = positions(game, left, 3, 0)
        assert (solvable(info_states, players) == (left <= MAX_PLACEMENTS)).all()
        finite = np.isfinite(action_values(info_states, players, RNG, 0))
        assert np.array_equal(finite, game.legal_actions(info_states) & (left <= MAX_PLACEMENTS))
    after = InfoStates(positions(game, 2, 3, 0)[0].copy())
    game.apply(after, game.legal_actions(after).argmax(axis=1).astype(np.int16))
    assert not solvable(after, np.zeros(3, dtype=np.int8)).any()  # no card is turned up
