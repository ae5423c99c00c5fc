"""Action values and greedy rollouts by the values of sparse line features, in one kernel."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import fastmath_kernel, kernel
from cardlab.games.abilities import SparseLineValues
from cardlab.games.cards.deck import Cards
from cardlab.games.poker_squares.line_statistics import (
    LINE_STATISTICS,
    compute_line_statistics,
    line_contents,
    set_cell,
    update_unseen,
)
from cardlab.games.poker_squares.patterns import best_cell
from cardlab.games.poker_squares.rules import NUM_CELLS, NUM_LINES, SIDE, STATE, Records, Scores, line_points, with_card
from cardlab.games.poker_squares.sparse_lines import (
    FEATURES_PER_LINE,
    SparseLine,
    encode_sparse_line,
    sum_crossing_traits,
)
from cardlab.games.protocol import Floats


class RolloutTables(NamedTuple):
    """Scratch arrays for the evaluation of one grid."""

    stats: NDArray[np.void]  # [1] of LINE_STATISTICS: kernels return arrays, not records
    states: Records  # [1] holds the grid
    indices: NDArray[np.int64]  # [10, 18] features of open lines without the face-up card
    indices_with_card: NDArray[np.int64]  # [10, 18] features with the face-up card, where the line stays open
    points: Floats  # [10] points of complete lines; else 0
    points_with: Floats  # [10] points of lines that the card would complete; else 0
    hidden: Floats  # [H]


@kernel
def make_rollout_tables(width: int) -> RolloutTables:
    """Empty tables for vectors of length `width`."""
    return RolloutTables(
        np.zeros(1, dtype=LINE_STATISTICS),
        np.zeros(1, dtype=STATE),
        np.empty((NUM_LINES, FEATURES_PER_LINE), dtype=np.int64),
        np.empty((NUM_LINES, FEATURES_PER_LINE), dtype=np.int64),
        np.empty(NUM_LINES, dtype=np.float32),
        np.empty(NUM_LINES, dtype=np.float32),
        np.empty(width, dtype=np.float32),
    )


@kernel
def load_grid(tables: RolloutTables, grid: Cards, card: int) -> None:
    """Copy a grid into the tables, with `card` face up (-1: none)."""
    for cell in range(NUM_CELLS):
        tables.states[0]["grid"][cell] = grid[cell]
    compute_line_statistics(tables.stats[0], tables.states[0]["grid"], card)


@kernel
def encode_sparse_lines(tables: RolloutTables, card: int, turn: int, scores: Scores) -> None:
    """Write the features and points of all lines, with `turn` cards on the grid and `card` face up (-1: none)."""
    stats, grid = tables.stats[0], tables.states[0]["grid"]
    for line in range(NUM_LINES):
        tables.points[line] = tables.points_with[line] = 0
        contents = line_contents(stats, line)
        if contents[0] == SIDE:
            tables.points[line] = line_points(contents, scores)
            continue
        crossing, crossing_with = sum_crossing_traits(stats, grid, line, max(card, 0) >> 2)
        encode_sparse_line(stats, line, contents, turn, crossing, tables.indices[line])
        if card < 0:
            continue
        contents = with_card(contents, card)
        if contents[0] == SIDE:
            tables.points_with[line] = line_points(contents, scores)
        else:
            encode_sparse_line(stats, line, contents, turn, crossing_with, tables.indices_with_card[line])


@fastmath_kernel
def sparse_line_value(tables: RolloutTables, values: SparseLineValues, indices: SparseLine) -> float:
    """Weights · relu(Σ vectors) of one line; adding three vectors at a time saves memory writes."""
    hidden, vectors, weights = tables.hidden, values.vectors, values.weights
    hidden[:] = 0
    for start in range(0, FEATURES_PER_LINE, 3):  # FEATURES_PER_LINE is a multiple of 3
        one, two, three = vectors[indices[start]], vectors[indices[start + 1]], vectors[indices[start + 2]]
        for k in range(len(hidden)):
            hidden[k] += one[k] + two[k] + three[k]
    total = np.float32(0)
    for k in range(len(hidden)):
        total += max(hidden[k], np.float32(0)) * weights[k]
    return float(total)


@kernel
def sparse_value_changes(tables: RolloutTables, values: SparseLineValues, unit: float, changes: Floats) -> float:
    """Write the change of value of each line by the card to `changes` [10]; return the value of all lines without it.

    Points are divided by `unit`.
    """
    base = np.float64(0)
    stats = tables.stats[0]
    for line in range(NUM_LINES):
        num_cards = stats["num_cards"][line]
        if num_cards == SIDE:
            base += tables.points[line] / unit
            continue
        before = sparse_line_value(tables, values, tables.indices[line])
        base += before
        if num_cards == SIDE - 1:
            changes[line] = tables.points_with[line] / unit - before
        else:
            changes[line] = sparse_line_value(tables, values, tables.indices_with_card[line]) - before
    return float(base)


@kernel
def sparse_cell_values(states: Records, values: SparseLineValues, scores: Scores, unit: float) -> Floats:
    """[G, 25] value of each cell for the face-up card, in units of `unit` points; -inf on taken cells."""
    action_values = np.full((states.shape[0], NUM_CELLS), -np.inf, dtype=np.float32)
    tables = make_rollout_tables(len(values.weights))
    changes = np.empty(NUM_LINES, dtype=np.float32)
    for g in range(states.shape[0]):
        turn = int(states[g]["turn"])
        if turn >= NUM_CELLS or states[g]["deck"][turn] < 0:
            continue
        card = int(np.int64(states[g]["deck"][turn]))
        grid = states[g]["grid"]
        load_grid(tables, grid, card)
        encode_sparse_lines(tables, card, turn, scores)
        base = sparse_value_changes(tables, values, unit, changes)
        for cell in range(NUM_CELLS):
            if grid[cell] < 0:
                row, column = cell // SIDE, SIDE + cell % SIDE
                action_values[g, cell] = base + changes[row] + changes[column]
    return action_values


@kernel
def sparse_playout_scores(states: Records, values: SparseLineValues, scores: Scores, unit: float) -> Floats:
    """[G, 1] scores when every card goes to the cell of highest value."""
    totals = np.empty((states.shape[0], 1), dtype=np.float32)
    tables = make_rollout_tables(len(values.weights))
    changes = np.empty(NUM_LINES, dtype=np.float32)
    for g in range(states.shape[0]):
        stats, grid = tables.stats[0], tables.states[0]["grid"]
        first = int(states[g]["turn"])
        load_grid(tables, states[g]["grid"], -1)
        for turn in range(first, NUM_CELLS):
            card = int(np.int64(states[g]["deck"][turn]))
            update_unseen(stats, grid, card)
            encode_sparse_lines(tables, card, turn, scores)
            sparse_value_changes(tables, values, unit, changes)
            set_cell(stats, grid, best_cell(grid, changes), card)
        total = 0
        for line in range(NUM_LINES):
            total += line_points(line_contents(stats, line), scores)
        totals[g, 0] = total
    return totals
