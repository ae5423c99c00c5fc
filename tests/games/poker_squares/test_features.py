"""Observations against a plain reference, and their invariances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.poker_squares.line_features import LINE_BLOCKS, LINE_SIZE
from cardlab.games.poker_squares.line_statistics import ALL_PROBABILITY, AT_LEAST_PROBABILITY
from cardlab.games.poker_squares.observation import ACTION_BLOCKS, LINES_BLOCKS
from cardlab.games.poker_squares.rules import STATE
from cardlab.games.protocol import InfoStates, find_block
from games.poker_squares.slow_lines import SlowLines, at_least
from games.poker_squares.slow_rules import grid_value

NOBODY_IN = np.zeros(1, dtype=np.int8)
CUSTOM = PokerSquares(scoring="custom", custom_scores=[-7, 3, -128, 127, 1, 0, 2, -1, 9, 100])


def close(left, right):
    return np.allclose(left, right, rtol=1e-5, atol=1e-5)


@st.composite
def positions(draw, decision=None):
    """A record as its owner sees it: some cells filled, a card face up or unknown (`decision` sets which)."""
    turn = draw(st.integers(0, 24 if decision else 25))
    close_ranks = draw(st.booleans())  # few ranks or suits make flushes, straights and fours frequent
    cards = draw(st.permutations(range(52)))
    if close_ranks:
        low, suits = draw(st.integers(0, 8)), draw(st.sampled_from([(0, 1, 2, 3), (0, 1), (2,)]))
        cards.sort(key=lambda card: not (low <= card // 4 < low + 5 and card % 4 in suits))
    cells = draw(st.permutations(range(25)))
    state = np.zeros(1, dtype=STATE)
    state["grid"], state["deck"], state["turn"] = -1, -1, turn
    state["grid"][0, cells[:turn]] = cards[:turn]
    if turn < 25 and (draw(st.booleans()) if decision is None else decision):
        state["deck"][0, turn] = cards[turn]
    return InfoStates(state)


def plain(state):
    """Grid and card of a record in the terms of the reference."""
    card = int(state["deck"][0, state["turn"][0]]) if state["turn"][0] < 25 else -1
    return [None if c < 0 else int(c) for c in state["grid"][0]], None if card < 0 else card


@pytest.mark.parametrize("game", [PokerSquares(), CUSTOM], ids=["american", "custom"])
@given(state=positions())
@settings(max_examples=200, deadline=None)
def test_lines_are_the_reference(game, state):
    features = game.observe(state, NOBODY_IN)[0]
    assert features.dtype == np.float32
    grid, card = plain(state)
    slow = SlowLines(grid, card, game.scores.tolist(), game.unit)
    for index in range(10):
        line = features[index * LINE_SIZE : (index + 1) * LINE_SIZE]
        entries = slow.encode(index)
        assert set(entries) <= {block.name for block in LINE_BLOCKS}
        for block in LINE_BLOCKS:
            expected = np.zeros(block.size)
            expected[: len(entries.get(block.name, []))] = entries.get(block.name, [])
            assert close(line[block.start : block.stop], expected), (index, block.name)


@given(state=positions())
@settings(max_examples=100, deadline=None)
def test_the_other_blocks(state):
    game = PokerSquares()
    features = game.observe(state, NOBODY_IN)[0]
    grid, card = plain(state)
    unseen = set(range(52)) - set(grid) - {card}
    cells = np.zeros((25, 6))
    for cell, placed in enumerate(grid):
        if placed is not None:
            cells[cell, [0, 1, 2 + placed % 4]] = [1, placed // 4 / 12, 1]
    shown = np.zeros(18)
    if card is not None:
        shown[[card // 4, 13 + card % 4, 17]] = 1
    value = grid_value(grid, game.scores.tolist()) / 100
    expected = {
        "cells": cells.ravel(),
        "card": shown,
        "unseen_ranks": [sum(c // 4 == rank for c in unseen) / 4 for rank in range(13)],
        "unseen_suits": [sum(c % 4 == suit for c in unseen) / 13 for suit in range(4)],
        "value": [value],
        "turn": [sum(c is not None for c in grid) / 25],
    }
    assert set(expected) | {"lines"} == {block.name for block in LINES_BLOCKS}
    for name, entries in expected.items():
        block = game.spec.block(name)
        assert close(features[block.start : block.stop], entries), name
    seed = PokerSquares(features="paper").observe(state, NOBODY_IN)[0]
    inputs = [[0, 0, 0] if c is None else [1, c % 4 / 4, c // 4 / 13] for c in grid]
    assert close(seed, [*np.ravel(inputs), value / 10])


@given(state=positions(decision=True))
@settings(max_examples=60, deadline=None)
def test_actions_show_their_afterstates(state):
    game = PokerSquares()
    rows, actions, features = game.action_features(state, NOBODY_IN)
    assert rows.tolist() == [0] * len(actions)
    assert actions.tolist() == np.flatnonzero(game.legal_actions(state)[0]).tolist()
    row, column, row_before, column_before = (features[:, b.start : b.stop] for b in ACTION_BLOCKS)
    for k, action in enumerate(actions):
        after = InfoStates(state.copy())
        game.apply(after, np.array([action], dtype=np.int16))
        lines = game.observe(after, NOBODY_IN)[0, : 10 * LINE_SIZE].reshape(10, LINE_SIZE)
        assert (row[k] == lines[action // 5]).all()
        assert (column[k] == lines[5 + action % 5]).all()
    same = game.observe(state, NOBODY_IN)[0, : 10 * LINE_SIZE].reshape(10, LINE_SIZE)
    turn, fit = find_block(LINE_BLOCKS, "turn"), find_block(LINE_BLOCKS, "fit")
    same[:, fit.start : fit.stop] = 0
    placed = (state["turn"][0] + 1) / 6.25
    hats = [max(0.0, 1 - abs(placed - n)) for n in range(5)]
    same[:, turn.start : turn.stop] = np.where(same[:, [1]] == 1, 0, hats)  # complete lines know no turn
    assert close(row_before, same[actions // 5])
    assert close(column_before, same[5 + actions % 5])


def test_actions_of_many_games_and_of_none():
    game, rng = PokerSquares(), np.random.default_rng(0)
    states = game.deal(3, rng)
    for cell in range(24):
        game.apply(InfoStates(states[:1]), np.array([cell], dtype=np.int16))
    known = game.information(states, np.zeros(3, dtype=np.int8))
    game.apply(InfoStates(known[2:]), np.zeros(1, dtype=np.int16))  # an afterstate: nobody decides
    rows, actions, features = game.action_features(known, np.zeros(3, dtype=np.int8))
    assert rows.tolist() == [0] + [1] * 25
    assert actions.tolist() == [24, *range(25)]
    assert features.shape == (26, game.spec.num_action_features)
    none = game.action_features(InfoStates(known[:0]), np.zeros(0, dtype=np.int8))
    assert [len(part) for part in none] == [0, 0, 0]


def test_equal_lines_have_equal_features():
    """Columns 0 and 1 hold equal ranks and an equal pattern of suits; rows 3 and 4 are empty."""
    game = PokerSquares()
    state = np.zeros(1, dtype=STATE)
    state["grid"], state["deck"], state["turn"] = -1, -1, 4
    state["grid"][0, [0, 1, 5, 6]] = [0, 1, 20, 21]
    lines = game.observe(InfoStates(state), NOBODY_IN)[0, : 10 * LINE_SIZE].reshape(10, LINE_SIZE)
    assert (lines[5] == lines[6]).all()
    assert (lines[3] == lines[4]).all()
    assert (lines[0] == lines[1]).all()  # a pair of twos and a pair of sevens
    assert not (lines[0] == lines[2]).all()


def test_chances():
    assert AT_LEAST_PROBABILITY.shape == (26, 14, 6)
    assert AT_LEAST_PROBABILITY[0, 4, 0] == 1
    assert AT_LEAST_PROBABILITY[24, 13, 1] == np.float32(13 / 28)
    assert AT_LEAST_PROBABILITY[25, 13, 1] == 0
    for seen, copies, need in [(0, 13, 5), (10, 3, 2), (20, 4, 1), (22, 2, 2)]:
        assert AT_LEAST_PROBABILITY[seen, copies, need] == pytest.approx(at_least(seen, copies, need))
    assert ALL_PROBABILITY[10, 2] == AT_LEAST_PROBABILITY[10, 2, 2]


def test_holders():
    game = PokerSquares()
    states = game.deal(1, np.random.default_rng(0), decks=np.arange(52, dtype=np.int8)[None])
    game.apply(states, np.array([3], dtype=np.int16))
    assert np.flatnonzero(game.holders(states)[0] == 0).tolist() == [0, 1]
    assert (game.holders(states)[0, 2:] == -1).all()
