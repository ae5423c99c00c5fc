"""Patterns of lines: one integer describes the cards of a line and the hands that it can still become.

A table holds one value per pattern, so the value of a grid is a sum of ten look-ups. Source of the idea: hand patterns
of Neller, Messinger and Yang 2013; the fields are the project's own.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS, Cards
from cardlab.games.poker_squares.line_statistics import NUM_WINDOWS, WINDOW_MASKS
from cardlab.games.poker_squares.rules import (
    CATEGORIES,
    NUM_CELLS,
    NUM_LINES,
    SIDE,
    Records,
    Scores,
    hand_category,
    scan_line,
)
from cardlab.games.protocol import Floats

# Sizes of the fields of an open line's pattern; the last field varies fastest.
NUM_ORIENTATIONS, NUM_STAGES, NUM_SIZES, NUM_GROUPS, NUM_FLUSHES, NUM_STRAIGHTS, NUM_COPIES = 2, 13, 5, 5, 6, 4, 5
NUM_OPEN = NUM_ORIENTATIONS * NUM_STAGES * NUM_SIZES * NUM_GROUPS * NUM_FLUSHES * NUM_STRAIGHTS * NUM_COPIES
NUM_PATTERNS = NUM_OPEN + len(CATEGORIES)  # complete lines: their category

# By number of equal-rank pairs: distinct, pair, two pair, three (or full house), four of a kind.
GROUP_OF_PAIRS = np.array([0, 1, 2, 3, 3, 4, 4], dtype=np.int64)
_WINDOWS = np.array([sum(not ranks & ~mask for mask in WINDOW_MASKS.tolist()) for ranks in range(1 << NUM_RANKS)])

Counts = NDArray[np.int64]


@kernel
def count_unseen(grid: Cards, card: int, by_rank: Counts, by_suit: Counts) -> None:
    """Count the unseen cards: neither on the grid nor face up (`card`; -1: none)."""
    by_rank[:] = NUM_SUITS
    by_suit[:] = NUM_RANKS
    for index in range(NUM_CELLS + 1):
        shown = np.int64(grid[index]) if index < NUM_CELLS else np.int64(card)
        if shown >= 0:
            by_rank[shown >> 2] -= 1
            by_suit[shown & 3] -= 1


@kernel
def line_pattern(
    orientation: int, turn: int, line: tuple[int, int, int, int, int], by_rank: Counts, by_suit: Counts
) -> int:
    """Pattern of a line with contents `line` (scan_line), `turn` cards on the grid and the given unseen cards."""
    num_cards, ranks, suits, counts, pairs = line
    if num_cards == SIDE:
        return NUM_OPEN + hand_category(num_cards, ranks, suits, pairs)
    flush = straight = copies = 0
    if num_cards > 0:
        if suits & (suits - 1) == 0:
            flush = _flush_level(num_cards, suits, by_suit)
        if pairs == 0:
            straight = _straight_level(num_cards, ranks, by_rank)
        copies = _copies_unseen(ranks, counts, pairs, by_rank)
    index = orientation * NUM_STAGES + min(turn // 2, NUM_STAGES - 1)
    index = index * NUM_SIZES + num_cards
    index = index * NUM_GROUPS + GROUP_OF_PAIRS[pairs]
    index = index * NUM_FLUSHES + flush
    index = index * NUM_STRAIGHTS + straight
    return index * NUM_COPIES + copies


@kernel
def _flush_level(num_cards: int, suits: int, by_suit: Counts) -> int:
    """0: no flush possible; else 1 to 5 by the number of spare cards of the suit."""
    suit = 0
    while suits >> suit != 1:
        suit += 1
    spare = by_suit[suit] - (SIDE - num_cards)
    return 0 if spare < 0 else min(1 + spare // 2, NUM_FLUSHES - 1)


@kernel
def _straight_level(num_cards: int, ranks: int, by_rank: Counts) -> int:
    """0: no straight possible; else 1 to 3 by the runs that fit, or for a line of four by the completing cards."""
    windows = _WINDOWS[ranks]
    if windows == 0 or num_cards < SIDE - 1:
        return min(windows, NUM_STRAIGHTS - 1)
    outs = 0
    for window in range(NUM_WINDOWS):
        if ranks & ~WINDOW_MASKS[window] == 0:
            missing = WINDOW_MASKS[window] & ~ranks
            rank = 0
            while missing >> rank != 1:
                rank += 1
            outs += by_rank[rank]
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
    by_rank = np.empty(NUM_RANKS, dtype=np.int64)
    by_suit = np.empty(NUM_SUITS, dtype=np.int64)
    lines = np.empty((NUM_LINES, 5), dtype=np.int64)
    changes = np.empty(NUM_LINES, dtype=np.float32)
    for g in range(states.shape[0]):
        grid = states[g]["grid"]
        turn = int(states[g]["turn"])
        card = int(states[g]["deck"][turn])
        count_unseen(grid, card, by_rank, by_suit)
        for line in range(NUM_LINES):
            store_line(lines, line, scan_line(grid, line))
        base = pattern_value_changes(lines, card, turn + 1, by_rank, by_suit, values, changes)
        for cell in range(NUM_CELLS):
            if grid[cell] < 0:
                action_values[g, cell] = base + changes[cell // SIDE] + changes[SIDE + cell % SIDE]
    return action_values


@kernel
def pattern_playout_scores(states: Records, values: Floats, scores: Scores) -> Floats:
    """[G, 1] scores when every card goes to the cell that maximises the sum of `values` [NUM_PATTERNS] over the lines.

    A placement changes one row and one column, so ten look-ups without the card and ten with it value all cells.
    """
    totals = np.empty((states.shape[0], 1), dtype=np.float32)
    grid = np.empty(NUM_CELLS, dtype=np.int8)
    by_rank = np.empty(NUM_RANKS, dtype=np.int64)
    by_suit = np.empty(NUM_SUITS, dtype=np.int64)
    lines = np.empty((NUM_LINES, 5), dtype=np.int64)
    changes = np.empty(NUM_LINES, dtype=np.float32)
    for g in range(states.shape[0]):
        for cell in range(NUM_CELLS):
            grid[cell] = states[g]["grid"][cell]
        first = int(states[g]["turn"])
        count_unseen(grid, -1, by_rank, by_suit)
        for line in range(NUM_LINES):
            store_line(lines, line, scan_line(grid, line))
        for turn in range(first, NUM_CELLS):
            card = int(states[g]["deck"][turn])
            by_rank[card >> 2] -= 1
            by_suit[card & 3] -= 1
            pattern_value_changes(lines, card, turn + 1, by_rank, by_suit, values, changes)
            cell = best_cell(grid, changes)
            grid[cell] = card
            for line in (cell // SIDE, SIDE + cell % SIDE):
                store_line(lines, line, line_with_card(lines, line, card))
        total = 0
        for line in range(NUM_LINES):
            total += np.int64(scores[hand_category(SIDE, lines[line, 1], lines[line, 2], lines[line, 4])])
        totals[g, 0] = total
    return totals


@kernel
def store_line(lines: Counts, line: int, contents: tuple[int, int, int, int, int]) -> None:
    """Write `contents` (scan_line) to row `line` of `lines` [10, 5]."""
    for place in range(5):
        lines[line, place] = contents[place]


@kernel
def line_with_card(lines: Counts, line: int, card: int) -> tuple[int, int, int, int, int]:
    """Contents (scan_line) of a line after `card` is added."""
    rank = card >> 2
    counts = lines[line, 3]
    pairs = lines[line, 4] + ((counts >> (4 * rank)) & 15)
    return (
        lines[line, 0] + 1,
        lines[line, 1] | 1 << rank,
        lines[line, 2] | 1 << (card & 3),
        counts + (1 << (4 * rank)),
        pairs,
    )


@kernel
def pattern_value_changes(
    lines: Counts, card: int, turn: int, by_rank: Counts, by_suit: Counts, values: Floats, changes: Floats
) -> float:
    """Write the change of value of each open line by `card` to `changes`; return the sum of all lines without it."""
    base = np.float32(0)
    for line in range(NUM_LINES):
        orientation = 0 if line < SIDE else 1
        contents = (lines[line, 0], lines[line, 1], lines[line, 2], lines[line, 3], lines[line, 4])
        before = values[line_pattern(orientation, turn, contents, by_rank, by_suit)]
        base += before
        if lines[line, 0] == SIDE:
            continue
        changes[line] = (
            values[line_pattern(orientation, turn, line_with_card(lines, line, card), by_rank, by_suit)] - before
        )
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
