"""Patterns of lines: one integer describes the cards of a line and the hands that it can still become.

A table holds one value per pattern, so the value of a grid is a sum of ten look-ups. Source of the idea: hand patterns
of Neller, Messinger and Yang 2013; the fields are the project's own.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS, Cards
from cardlab.games.cards.hands import CATEGORIES, STRAIGHT_MASKS
from cardlab.games.poker_squares.line_statistics import LOWEST_BIT
from cardlab.games.poker_squares.rules import (
    NUM_CELLS,
    NUM_LINES,
    SIDE,
    Line,
    Records,
    Scores,
    line_category,
    line_points,
    scan_line,
    with_card,
)
from cardlab.games.protocol import Floats

# Sizes of the fields of an open line's pattern; the last field varies fastest.
NUM_ORIENTATIONS, NUM_STAGES, NUM_SIZES, NUM_GROUPS, NUM_FLUSHES, NUM_STRAIGHTS, NUM_COPIES = 2, 13, 5, 5, 6, 4, 5
NUM_OPEN = NUM_ORIENTATIONS * NUM_STAGES * NUM_SIZES * NUM_GROUPS * NUM_FLUSHES * NUM_STRAIGHTS * NUM_COPIES
NUM_PATTERNS = NUM_OPEN + len(CATEGORIES)  # complete lines: their category

# By number of equal-rank pairs: distinct, pair, two pair, three (or full house), four of a kind.
GROUP_OF_PAIRS = np.array([0, 1, 2, 3, 3, 4, 4], dtype=np.int64)
_WINDOWS = np.array([sum(not ranks & ~mask for mask in STRAIGHT_MASKS.tolist()) for ranks in range(1 << NUM_RANKS)])

Counts = NDArray[np.int64]


class PatternTables(NamedTuple):
    """One grid with the contents of its lines, and scratch arrays for its evaluation."""

    grid: Cards  # [25]
    lines: Counts  # [10, 5] contents of each line (rules.Line)
    by_rank: Counts  # [13] unseen cards: neither on the grid nor face up
    by_suit: Counts  # [4]
    changes: Floats  # [10] change of value of each open line by the face-up card


@kernel
def make_pattern_tables() -> PatternTables:
    """Tables for one grid after another."""
    return PatternTables(
        np.empty(NUM_CELLS, dtype=np.int8),
        np.empty((NUM_LINES, 5), dtype=np.int64),
        np.empty(NUM_RANKS, dtype=np.int64),
        np.empty(NUM_SUITS, dtype=np.int64),
        np.empty(NUM_LINES, dtype=np.float32),
    )


@kernel
def load_grid(tables: PatternTables, grid: Cards) -> None:
    """Fill the tables for a grid without a face-up card."""
    tables.by_rank[:] = NUM_SUITS
    tables.by_suit[:] = NUM_RANKS
    for cell in range(NUM_CELLS):
        tables.grid[cell] = grid[cell]
        if grid[cell] >= 0:
            turn_up(tables, int(np.int64(grid[cell])))
    for line in range(NUM_LINES):
        _store_line(tables.lines, line, scan_line(grid, line))


@kernel
def turn_up(tables: PatternTables, card: int) -> None:
    """Count `card` as seen."""
    tables.by_rank[card >> 2] -= 1
    tables.by_suit[card & 3] -= 1


@kernel
def place_card(tables: PatternTables, cell: int, card: int) -> None:
    """Put `card`, which is face up, on a cell."""
    tables.grid[cell] = card
    for line in (cell // SIDE, SIDE + cell % SIDE):
        _store_line(tables.lines, line, with_card(stored_line(tables.lines, line), card))


@kernel
def _store_line(lines: Counts, line: int, contents: Line) -> None:
    for place in range(5):
        lines[line, place] = contents[place]


@kernel
def stored_line(lines: Counts, line: int) -> Line:
    """Contents of a line, from `PatternTables.lines`."""
    return lines[line, 0], lines[line, 1], lines[line, 2], lines[line, 3], lines[line, 4]


@kernel
def line_pattern(line: int, contents: Line, turn: int, by_rank: Counts, by_suit: Counts) -> int:
    """Pattern of row or column `line` with `turn` cards on the grid and the given unseen cards."""
    num_cards, ranks, suits, counts, pairs = contents
    if num_cards == SIDE:
        return NUM_OPEN + line_category(contents)
    flush = straight = copies = 0
    if num_cards > 0:
        if suits & (suits - 1) == 0:
            flush = _flush_level(num_cards, suits, by_suit)
        if pairs == 0:
            straight = _straight_level(num_cards, ranks, by_rank)
        copies = _copies_unseen(ranks, counts, pairs, by_rank)
    index = (0 if line < SIDE else 1) * NUM_STAGES + min(turn // 2, NUM_STAGES - 1)
    index = index * NUM_SIZES + num_cards
    index = index * NUM_GROUPS + GROUP_OF_PAIRS[pairs]
    index = index * NUM_FLUSHES + flush
    index = index * NUM_STRAIGHTS + straight
    return index * NUM_COPIES + copies


@kernel
def _flush_level(num_cards: int, suits: int, by_suit: Counts) -> int:
    """0: no flush possible; else 1 to 5 by the number of spare cards of the suit."""
    spare = int(by_suit[LOWEST_BIT[suits]]) - (SIDE - num_cards)
    return 0 if spare < 0 else min(1 + spare // 2, NUM_FLUSHES - 1)


@kernel
def _straight_level(num_cards: int, ranks: int, by_rank: Counts) -> int:
    """0: no straight possible; else 1 to 3 by the runs that fit, or for a line of four by the completing cards."""
    windows = _WINDOWS[ranks]
    if windows == 0 or num_cards < SIDE - 1:
        return min(windows, NUM_STRAIGHTS - 1)
    outs = 0
    for mask in STRAIGHT_MASKS:
        if ranks & ~mask == 0:
            outs += int(by_rank[LOWEST_BIT[mask & ~ranks]])
    return min((outs + 2) // 3, NUM_STRAIGHTS - 1)


@kernel
def _copies_unseen(ranks: int, counts: int, pairs: int, by_rank: Counts) -> int:
    """0 to 4 by the unseen copies of the paired ranks, or of all ranks of a line without pairs."""
    copies = wanted = 0
    for rank in range(NUM_RANKS):
        if (ranks >> rank) & 1:
            held = (counts >> (4 * rank)) & 15
            if pairs == 0 or held > 1:
                copies += by_rank[rank]
                wanted += NUM_SUITS - held
    if pairs > 0:
        return min(copies, NUM_COPIES - 1)
    return (copies * (NUM_COPIES - 1) + wanted - 1) // wanted


def transpose_values(values: Floats) -> Floats:
    """`values` [NUM_PATTERNS] with the values of rows and columns exchanged."""
    orientations = values[:NUM_OPEN].reshape(NUM_ORIENTATIONS, -1)
    return np.concatenate((orientations[::-1].ravel(), values[NUM_OPEN:]))


@kernel
def cell_values(states: Records, values: Floats) -> Floats:
    """[G, 25] sum of `values` over the lines with the face-up card on each cell; -inf on taken cells."""
    action_values = np.full((states.shape[0], NUM_CELLS), -np.inf, dtype=np.float32)
    tables = make_pattern_tables()
    for g in range(states.shape[0]):
        turn = int(states[g]["turn"])
        card = int(np.int64(states[g]["deck"][turn]))
        load_grid(tables, states[g]["grid"])
        turn_up(tables, card)
        base = pattern_value_changes(tables, card, turn + 1, values)
        for cell in range(NUM_CELLS):
            if tables.grid[cell] < 0:
                action_values[g, cell] = base + tables.changes[cell // SIDE] + tables.changes[SIDE + cell % SIDE]
    return action_values


@kernel
def pattern_playout_scores(states: Records, values: Floats, scores: Scores) -> Floats:
    """[G, 1] scores when every card goes to the cell that maximises the sum of `values` [NUM_PATTERNS] over the lines.

    A placement changes one row and one column, so ten look-ups without the card and ten with it value all cells.
    """
    totals = np.empty((states.shape[0], 1), dtype=np.float32)
    tables = make_pattern_tables()
    for g in range(states.shape[0]):
        load_grid(tables, states[g]["grid"])
        for turn in range(int(states[g]["turn"]), NUM_CELLS):
            card = int(np.int64(states[g]["deck"][turn]))
            turn_up(tables, card)
            pattern_value_changes(tables, card, turn + 1, values)
            place_card(tables, best_cell(tables.grid, tables.changes), card)
        total = 0
        for line in range(NUM_LINES):
            total += line_points(stored_line(tables.lines, line), scores)
        totals[g, 0] = total
    return totals


@kernel
def pattern_value_changes(tables: PatternTables, card: int, turn: int, values: Floats) -> float:
    """Write the change of value of each open line by `card`; return the sum of all lines without it."""
    _, lines, by_rank, by_suit, changes = tables
    base = np.float32(0)
    for line in range(NUM_LINES):
        contents = stored_line(lines, line)
        before = values[line_pattern(line, contents, turn, by_rank, by_suit)]
        base += before
        if contents[0] < SIDE:
            changes[line] = values[line_pattern(line, with_card(contents, card), turn, by_rank, by_suit)] - before
    return float(base)


@kernel
def best_cell(grid: Cards, changes: Floats) -> int:
    """Empty cell with the greatest sum of row and column changes; the first in a tie."""
    best = -1
    most = np.float32(0)
    for cell in range(NUM_CELLS):
        if grid[cell] < 0:
            change = changes[cell // SIDE] + changes[SIDE + cell % SIDE]
            if best < 0 or change > most:
                best = cell
                most = change
    return best
