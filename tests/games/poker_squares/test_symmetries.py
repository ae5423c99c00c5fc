"""Transformed games stay equivalent."""

import numpy as np
import pytest

from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.poker_squares.line_features import LINE_BLOCKS, LINE_SIZE
from cardlab.games.poker_squares.symmetries import Symmetries, draw_symmetries, transform
from cardlab.games.protocol import find_block


@pytest.mark.parametrize("seed", range(5))
def test_the_same_play_pays_the_same(seed):
    game, rng = PokerSquares(), np.random.default_rng(seed)
    states = game.deal(200, rng)
    moved, cells = transform(states, draw_symmetries(200, rng))
    everyone = np.arange(200)
    while not game.is_over(states).all():
        legal = game.legal_actions(states)
        assert (np.take_along_axis(game.legal_actions(moved), cells.astype(int), axis=1) == legal).all()
        actions = (legal * rng.random(legal.shape)).argmax(axis=1)
        assert (game.partial_value(moved) == game.partial_value(states)).all()
        game.apply(states, actions.astype(np.int16))
        game.apply(moved, cells[everyone, actions])
    assert game.is_over(moved).all()
    assert (game.payoffs(moved) == game.payoffs(states)).all()
    assert (moved["grid"] != states["grid"]).any()


def test_lines_move_with_their_features():
    """The ten feature vectors are permuted; a transposition exchanges rows and columns."""
    game, rng = PokerSquares(), np.random.default_rng(7)
    states = game.deal(300, rng)
    players = np.zeros(300, dtype=np.int8)
    for _ in range(12):
        legal = game.legal_actions(states)
        game.apply(states, (legal * rng.random(legal.shape)).argmax(axis=1).astype(np.int16))
    known = game.information(states, players)
    moved, _ = transform(known, draw_symmetries(300, rng))
    row = find_block(LINE_BLOCKS, "row").start
    sums = []
    for part in (known, moved):
        lines = game.observe(part, players)[:, : 10 * LINE_SIZE].reshape(300, 10, LINE_SIZE).copy()
        lines[:, :, row] = 0
        sums.append(np.sort(lines.astype(np.float64) @ np.random.default_rng(1).random(LINE_SIZE), axis=1))
    assert np.allclose(sums[0], sums[1], atol=1e-4)


def test_cells():
    order = np.arange(5, dtype=np.int8)[None]
    suits = np.arange(4, dtype=np.int8)[None]
    nothing = Symmetries(order, order, np.array([False]), suits)
    assert nothing.cells().tolist() == [list(range(25))]
    turned = Symmetries(order, order, np.array([True]), suits)
    assert turned.cells()[0, 7] == 11  # row 1, column 2 becomes row 2, column 1
    shifted = Symmetries(np.roll(order, 1, axis=1), order, np.array([False]), suits)
    assert shifted.cells()[0, 7] == 2  # row 1 becomes row 0


def test_suits_of_the_deck_change_too():
    game = PokerSquares()
    states = game.deal(1, np.random.default_rng(0), decks=np.arange(52, dtype=np.int8)[None])
    order = np.arange(5, dtype=np.int8)[None]
    moved, _ = transform(states, Symmetries(order, order, np.array([False]), np.array([[1, 0, 3, 2]], dtype=np.int8)))
    assert moved["deck"][0, :5].tolist() == [1, 0, 3, 2, 5]
