"""Transformed games stay equivalent."""

import numpy as np
import pytest

from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.poker_squares.line_features import LINE_BLOCKS, LINE_SIZE
from cardlab.games.poker_squares.rules import transform
from cardlab.games.protocol import find_block


@pytest.mark.parametrize("seed", range(5))
def test_the_same_play_pays_the_same(seed):
    game, rng = PokerSquares(), np.random.default_rng(seed)
    states = game.deal(200, rng)
    moved, cells = transform(states, rng)
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
    moved, _ = transform(known, rng)
    row = find_block(LINE_BLOCKS, "row").start
    sums = []
    for part in (known, moved):
        lines = game.observe(part, players)[:, : 10 * LINE_SIZE].reshape(300, 10, LINE_SIZE).copy()
        lines[:, :, row] = 0
        sums.append(np.sort(lines.astype(np.float64) @ np.random.default_rng(1).random(LINE_SIZE), axis=1))
    assert np.allclose(sums[0], sums[1], atol=1e-4)


def test_rows_and_columns_stay_lines():
    cells = transform(PokerSquares().deal(300, np.random.default_rng(0)), np.random.default_rng(1))[1]
    grids = cells.reshape(300, 5, 5)
    straight = (grids // 5 == grids[:, :, :1] // 5).all(axis=(1, 2))  # rows are mapped to rows
    turned = (grids % 5 == grids[:, :, :1] % 5).all(axis=(1, 2))
    assert (straight ^ turned).all()
    assert 100 < straight.sum() < 200
    assert (np.sort(cells, axis=1) == np.arange(25)).all()


def test_suits_of_the_deck_change_too():
    decks = np.tile(np.arange(52, dtype=np.int8), (50, 1))
    states = PokerSquares().deal(50, np.random.default_rng(0), decks=decks)
    moved, _ = transform(states, np.random.default_rng(1))
    suits = moved["deck"] & 3
    assert (moved["deck"] >> 2 == states["deck"] >> 2).all()
    assert (suits[:, 4:24] == np.tile(suits[:, :4], 5)).all()
    assert (np.sort(suits[:, :4], axis=1) == np.arange(4)).all()
    assert len(np.unique(suits[:, :4], axis=0)) > 12
