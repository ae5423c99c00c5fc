"""Named blocks of observations, actions and privileged observations, and the kernels that fill them."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS, UNKNOWN, Cards
from cardlab.games.poker_squares.line_features import LINE_SIZE, encode_line
from cardlab.games.poker_squares.line_statistics import (
    LINE_STATISTICS,
    LineStatistics,
    compute_line_statistics,
    set_cell,
)
from cardlab.games.poker_squares.rules import NUM_CELLS, NUM_LINES, SIDE, STATE, Records, Scores, sum_lines
from cardlab.games.poker_squares.sparse_lines import FEATURES_PER_LINE
from cardlab.games.poker_squares.sparse_rollouts import (
    RolloutTables,
    encode_sparse_lines,
    load_grid,
    make_rollout_tables,
)
from cardlab.games.protocol import Floats, layout, width

LINES_BLOCKS = layout(
    lines=(NUM_LINES, LINE_SIZE),  # rows, then columns, in LINE_BLOCKS
    cells=(NUM_CELLS, 2 + NUM_SUITS),  # [filled, rank / 12, suit one-hot]
    card=(NUM_RANKS + NUM_SUITS + 1,),  # the face-up card: rank one-hot, suit one-hot, known
    unseen_ranks=(NUM_RANKS,),  # unseen cards of each rank / 4
    unseen_suits=(NUM_SUITS,),  # unseen cards of each suit / 13
    value=(1,),  # current score of the grid / (2 · unit)
    turn=(1,),  # cards placed / 25
)
PAPER_BLOCKS = layout(
    cells=(NUM_CELLS, 3),  # [filled, suit / 4, rank / 13]
    value=(1,),  # current score of the grid / (20 · unit)
)
SPARSE_BLOCKS = layout(
    codes=(NUM_LINES, FEATURES_PER_LINE),  # sparse features of each line (sparse_lines.py); -1 if complete
    settled=(1,),  # points of complete lines / payoff scale
)
ACTION_BLOCKS = layout(
    row=(LINE_SIZE,),  # after the placement
    column=(LINE_SIZE,),
    row_before=(LINE_SIZE,),  # without the card
    column_before=(LINE_SIZE,),
)

_SPARSE_SIZE = width(SPARSE_BLOCKS)
_LINES_SIZE, _PAPER_SIZE, _ACTION_SIZE = width(LINES_BLOCKS), width(PAPER_BLOCKS), width(ACTION_BLOCKS)
_CELLS, _CARD, _UNSEEN_RANKS, _UNSEEN_SUITS, _VALUE, _TURN = (block.start for block in LINES_BLOCKS[1:])
_PAPER_VALUE = _PAPER_SIZE - 1
_COLUMN, _ROW_BEFORE, _COLUMN_BEFORE = (block.start for block in ACTION_BLOCKS[1:])


@kernel
def observe_lines(states: Records, scores: Scores, unit: float) -> Floats:
    """[G, F] in LINES_BLOCKS; `unit` is the number of points that equals 1."""
    features = np.empty((states.shape[0], _LINES_SIZE), dtype=np.float32)
    stats = np.zeros(1, dtype=LINE_STATISTICS)[0]
    for g in range(states.shape[0]):
        out = features[g]
        out[:] = 0
        grid = states[g]["grid"]
        turn = int(states[g]["turn"])
        card = int(states[g]["deck"][turn]) if turn < NUM_CELLS else -1
        compute_line_statistics(stats, grid, card)
        value = np.float32(0)
        for line in range(NUM_LINES):
            start = line * LINE_SIZE
            encode_line(stats, grid, line, card, scores, unit, out[start : start + LINE_SIZE])
            value += out[start]  # the first entry is the score
        _encode_cards(stats, grid, card, out)
        out[_VALUE] = value / 2
        out[_TURN] = turn / NUM_CELLS
    return features


@kernel
def _encode_cards(stats: LineStatistics, grid: Cards, card: int, out: Floats) -> None:
    for cell in range(NUM_CELLS):
        placed = int(grid[cell])
        if placed >= 0:
            start = _CELLS + cell * (2 + NUM_SUITS)
            out[start] = 1
            out[start + 1] = (placed >> 2) / 12
            out[start + 2 + (placed & 3)] = 1
    if card >= 0:
        out[_CARD + (card >> 2)] = 1
        out[_CARD + NUM_RANKS + (card & 3)] = 1
        out[_CARD + NUM_RANKS + NUM_SUITS] = 1
    for rank in range(NUM_RANKS):
        out[_UNSEEN_RANKS + rank] = stats["unseen_by_rank"][rank] / 4
    for suit in range(NUM_SUITS):
        out[_UNSEEN_SUITS + suit] = stats["unseen_by_suit"][suit] / 13


@kernel
def observe_paper(states: Records, scores: Scores, unit: float) -> Floats:
    """[G, 76] in PAPER_BLOCKS: the scaled inputs of the paper's network."""
    features = np.zeros((states.shape[0], _PAPER_SIZE), dtype=np.float32)
    values = sum_lines(states, scores, False)
    for g in range(states.shape[0]):
        for cell in range(NUM_CELLS):
            card = states[g]["grid"][cell]
            if card >= 0:
                features[g, 3 * cell] = 1
                features[g, 3 * cell + 1] = (card & 3) / 4
                features[g, 3 * cell + 2] = (card >> 2) / 13
        features[g, _PAPER_VALUE] = values[g, 0] / (20 * unit)
    return features


@kernel
def observe_sparse_lines(states: Records, cells: NDArray[np.int16], scores: Scores, unit: float) -> Floats:
    """[G, F] in SPARSE_BLOCKS with the face-up card on `cells` [G] ([0]: on none); `unit` points equal 1.

    The lines that do not cross in the cell do not see the new card. Without a face-up card the last card was just
    placed: then the observation is that of its placement, except that the other lines already see the card.
    """
    features = np.empty((states.shape[0], _SPARSE_SIZE), dtype=np.float32)
    tables = make_rollout_tables(0)
    for g in range(states.shape[0]):
        turn = int(states[g]["turn"])
        card = int(np.int64(states[g]["deck"][turn])) if turn < NUM_CELLS else -1
        load_grid(tables, states[g]["grid"], card)
        encode_sparse_lines(tables, card, turn if card >= 0 else max(turn - 1, 0), scores)
        _write_sparse_lines(tables, int(np.int64(cells[g])) if cells.size else -1, unit, features[g])
    return features


@kernel
def _write_sparse_lines(tables: RolloutTables, cell: int, unit: float, out: Floats) -> None:
    """Fill `out` from `tables`, with the card on `cell` (-1: on none)."""
    settled = np.float32(0)
    for line in range(NUM_LINES):
        taken = cell >= 0 and line in (cell // SIDE, SIDE + cell % SIDE)
        settled += tables.points[line] + (tables.points_with[line] if taken else np.float32(0))
        num_cards = tables.stats[0]["num_cards"][line] + (1 if taken else 0)
        indices = tables.indices_with_card[line] if taken else tables.indices[line]
        for k in range(FEATURES_PER_LINE):
            out[line * FEATURES_PER_LINE + k] = indices[k] if num_cards < SIDE else -1
    out[_SPARSE_SIZE - 1] = settled / unit


@kernel
def observe_actions(
    states: Records, legal: NDArray[np.bool_], scores: Scores, unit: float
) -> tuple[NDArray[np.intp], NDArray[np.int16], Floats]:
    """Rows [K], actions [K], features [K, Fa] in ACTION_BLOCKS of the True entries of `legal` [G, 25].

    `row` and `column` are the features of observe_lines after the placement, with the next card unknown.
    """
    num_pairs = int(legal.sum())
    rows = np.empty(num_pairs, dtype=np.intp)
    actions = np.empty(num_pairs, dtype=np.int16)
    features = np.zeros((num_pairs, _ACTION_SIZE), dtype=np.float32)
    stats = np.zeros(1, dtype=LINE_STATISTICS)[0]
    grid = np.zeros(1, dtype=STATE)[0]["grid"]  # the type used in observe_lines, so encode_line compiles once
    before = np.empty((NUM_LINES, LINE_SIZE), dtype=np.float32)
    unknown = int(np.int64(UNKNOWN))  # not a literal, which would compile encode_line again
    k = 0
    for g in range(states.shape[0]):
        turn = int(states[g]["turn"])
        if turn >= NUM_CELLS or states[g]["deck"][turn] < 0:
            continue
        card = int(np.int64(states[g]["deck"][turn]))
        for cell in range(NUM_CELLS):
            grid[cell] = states[g]["grid"][cell]
        compute_line_statistics(stats, grid, card)
        before[:] = 0
        for line in range(NUM_LINES):
            encode_line(stats, grid, line, unknown, scores, unit, before[line])
        for cell in range(NUM_CELLS):
            if legal[g, cell]:
                rows[k] = g
                actions[k] = cell
                _encode_action(stats, grid, cell, card, scores, unit, features[k])
                for index in range(LINE_SIZE):
                    features[k, _ROW_BEFORE + index] = before[cell // SIDE, index]
                    features[k, _COLUMN_BEFORE + index] = before[SIDE + cell % SIDE, index]
                k += 1
    return rows, actions, features


@kernel
def _encode_action(
    stats: LineStatistics, grid: Cards, cell: int, card: int, scores: Scores, unit: float, out: Floats
) -> None:
    """Fill the first two blocks of `out`; `stats` and `grid` are restored."""
    row, column = cell // SIDE, SIDE + cell % SIDE
    unknown = int(np.int64(UNKNOWN))
    set_cell(stats, grid, cell, card)
    encode_line(stats, grid, row, unknown, scores, unit, out[:LINE_SIZE])
    encode_line(stats, grid, column, unknown, scores, unit, out[_COLUMN : _COLUMN + LINE_SIZE])
    set_cell(stats, grid, cell, unknown)
