"""Sparse line features against a plain reference, placements against afterstates, and rollouts by values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cardlab.agents.exploration import RandomAgent
from cardlab.games.abilities import SparseLineValues
from cardlab.games.loop import play, play_out
from cardlab.games.make_game import make_game
from cardlab.games.poker_squares.sparse_lines import FEATURES_PER_LINE, NUM_SPARSE_FEATURES, SPARSE_FEATURE_SIZES
from cardlab.games.record_arrays import copied
from games.poker_squares.slow_sparse_lines import cards_of, features_of, index_of

GAME = make_game("poker_squares", features="sparse_lines")
SIZES = [int(np.prod(sizes)) for sizes in SPARSE_FEATURE_SIZES.values()]
STARTS = np.cumsum([0, *SIZES[:-1]])


def expected(grid, card, turn, cell):
    """[10, 18] features of each line, with the card in the lines of `cell`; -1 for complete lines."""
    rows = []
    for line in range(10):
        taken = cell >= 0 and line in (cell // 5, 5 + cell % 5)
        if len(cards_of(grid, line)) + taken == 5:
            rows.append([-1] * FEATURES_PER_LINE)
            continue
        contents = features_of(grid, line, card, turn, with_card=taken)
        rows.append(
            [
                start + index_of(contents[name], SPARSE_FEATURE_SIZES[name])
                for start, name in zip(STARTS, SPARSE_FEATURE_SIZES, strict=True)
            ]
        )
    return np.array(rows)


def position(seed, steps):
    """Decision [1] after this number of random moves."""
    rng = np.random.default_rng(seed)
    states = GAME.deal(1, rng)
    for moves in play(GAME, states, [RandomAgent(GAME)], rng):
        if moves.info_states["turn"][0] == steps:
            return moves.info_states
    raise AssertionError(steps)


@given(st.integers(0, 2**32 - 1), st.integers(0, 23), st.integers(0, 24))
def test_features_match_the_reference(seed, steps, choice):
    info_states = position(seed, steps)
    grid = info_states["grid"][0].tolist()
    card = int(info_states["deck"][0][steps])
    empty = [cell for cell in range(25) if grid[cell] < 0]
    cell = empty[choice % len(empty)]
    players = np.zeros(1, dtype=np.int8)
    before = GAME.observe(info_states, players)[0, :-1].reshape(10, -1)
    after = GAME.observe_afterstates(info_states, players, np.array([cell], dtype=np.int16))[0, :-1].reshape(10, -1)
    assert np.array_equal(before, expected(grid, card, steps, -1))
    assert np.array_equal(after, expected(grid, card, steps, cell))


def test_each_feature_is_in_range_and_all_features_are_used():
    rng = np.random.default_rng(3)
    states = GAME.deal(300, rng)
    seen = np.zeros(NUM_SPARSE_FEATURES, dtype=bool)
    for moves in play(GAME, states, [RandomAgent(GAME)], rng):
        codes = GAME.observe(moves.info_states, moves.players)[:, :-1].reshape(-1, FEATURES_PER_LINE).astype(int)
        codes = codes[codes[:, 0] >= 0]
        assert (codes >= STARTS).all()
        assert (codes < STARTS + SIZES).all()
        seen[codes.ravel()] = True
    assert min(np.add.reduceat(seen, STARTS) / SIZES) > 0.05


def test_features_per_line_are_a_multiple_of_three():
    """sparse_line_value adds three vectors at a time and would read beyond other sizes."""
    assert FEATURES_PER_LINE % 3 == 0


def test_the_settled_block_has_the_points_of_complete_lines():
    rng = np.random.default_rng(4)
    states = GAME.deal(20, rng)
    play_out(GAME, states, [RandomAgent(GAME)], rng)
    shown = GAME.observe(states, np.zeros(20, dtype=np.int8))
    assert (shown[:, :-1] == -1).all()
    assert np.allclose(shown[:, -1] * GAME.spec.payoff_scale, GAME.payoffs(states)[:, 0])


def random_values(seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(NUM_SPARSE_FEATURES + 1, 32)).astype(np.float32)
    return SparseLineValues(vectors, rng.normal(size=32).astype(np.float32))


def value_of(shown, values):
    """Value of an observation by definition."""
    lines = shown[:-1].reshape(10, -1).astype(int)
    hidden = [np.maximum(values.vectors[codes].sum(axis=0), 0) for codes in lines if codes[0] >= 0]
    return float(np.sum(hidden, axis=0) @ values.weights if hidden else 0) + shown[-1]


@pytest.mark.parametrize("steps", [0, 7, 15, 22, 23, 24])
def test_cell_values_match_afterstates(steps):
    values = random_values(steps)
    info_states = position(steps, steps) if steps < 24 else last_decision()
    action_values = GAME.sparse_action_values(info_states, values, GAME.spec.payoff_scale)[0]
    legal = GAME.legal_actions(info_states)[0]
    assert np.isneginf(action_values[~legal]).all()
    for cell in np.flatnonzero(legal):
        shown = GAME.observe_afterstates(info_states, np.zeros(1, dtype=np.int8), np.array([cell], dtype=np.int16))[0]
        assert action_values[cell] == pytest.approx(value_of(shown, values), rel=1e-4, abs=1e-3)


def last_decision():
    """[1] with one empty cell: its value is the final score."""
    rng = np.random.default_rng(9)
    states = GAME.deal(1, rng)
    for _ in range(24):
        GAME.apply(states, GAME.legal_actions(states).argmax(axis=1).astype(np.int16))
    return GAME.information(states, np.zeros(1, dtype=np.int8))


def test_playouts_take_the_cell_of_highest_value():
    values = random_values(1)
    rng = np.random.default_rng(5)
    dealt = GAME.deal(40, rng)
    for _ in range(3):
        GAME.apply(dealt, GAME.legal_actions(dealt).argmax(axis=1).astype(np.int16))
    before = copied(dealt)
    found = GAME.sparse_play_out(dealt, values)
    assert np.array_equal(dealt, before)
    while not GAME.is_over(dealt).all():
        action_values = GAME.sparse_action_values(GAME.information(dealt, np.zeros(40, dtype=np.int8)), values, 20.0)
        GAME.apply(dealt, action_values.argmax(axis=1).astype(np.int16))
    assert np.array_equal(found, GAME.payoffs(dealt))
