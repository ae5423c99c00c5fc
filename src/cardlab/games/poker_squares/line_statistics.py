"""Statistics of one grid from which the features of its ten lines are computed, and probabilities of draws."""

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS, Cards
from cardlab.games.poker_squares.rules import NUM_CELLS, NUM_LINES, SIDE, Line, scan_line

MAX_COPIES = 13  # of one suit
MAX_NEED = 5

Table = NDArray[np.float32]


def probability_at_least(seen: int, copies: int, need: int) -> float:
    """P(at least `need` of `copies` cards turn up in the remaining draws), with `seen` of the 52 cards seen."""
    unseen, draws = 52 - seen, 25 - seen
    hits = range(need, min(copies, draws) + 1)
    if copies > unseen:
        return 0.0
    return sum(comb(copies, hit) * comb(unseen - copies, draws - hit) for hit in hits) / comb(unseen, draws)


def _at_least() -> Table:
    """[26, 14, 6] by cards seen, copies, need."""
    shape = (26, MAX_COPIES + 1, MAX_NEED + 1)
    return np.array([probability_at_least(*index) for index in np.ndindex(shape)], dtype=np.float32).reshape(shape)


AT_LEAST_PROBABILITY = _at_least()
ALL_PROBABILITY = np.stack([AT_LEAST_PROBABILITY[:, need, need] for need in range(MAX_NEED + 1)], axis=1)
"""[26, 6] probability that all `need` cards turn up."""


LOWEST_BIT = np.array([(mask & -mask).bit_length() - 1 for mask in range(1 << NUM_RANKS)], dtype=np.int64)
"""[8192] number of the lowest bit of each mask of ranks or suits; -1 for 0."""

# Type of an open line, for the lines that compete with it.
EMPTY, SUITED, PAIRED, MIXED = range(4)
COMPLETE = -1

# Traits of a line in fields of 4 bits (cards: 5 bits), so that one sum counts all traits.
TRAIT_CARDS, TRAIT_PAIRED, TRAIT_LACKS_ONE, TRAIT_SHARES, TRAIT_SUITED, TRAIT_OF_SUIT = 0, 8, 12, 16, 20, 24
_ONES = 0x1111111111111  # one in each field of the counts of ranks

LINE_STATISTICS = np.dtype(
    [
        ("num_cards", np.int8, NUM_LINES),
        ("pairs", np.int8, NUM_LINES),  # of equal ranks
        ("suits", np.int8, NUM_LINES),  # mask
        ("suit", np.int8, NUM_LINES),  # the one suit of its cards, -1 when there are none or several
        ("line_type", np.int8, NUM_LINES),
        ("ranks", np.int32, NUM_LINES),  # mask
        ("counts", np.int64, NUM_LINES),  # 4 bits per rank
        ("traits", np.int64, NUM_LINES),
        ("seen", np.int64),  # cards on the grid and the face-up card
        ("seen_ranks", np.int32, NUM_SUITS),  # mask of the ranks seen in each suit
        ("unseen_by_rank", np.int64, NUM_RANKS),
        ("unseen_by_suit", np.int64, NUM_SUITS),
        ("slots", np.int64, SIDE),  # scratch of the encoder
        ("chance", np.float32, NUM_RANKS),  # probability that at least one unseen card of a rank turns up
        # by orientation (0 rows, 1 columns), open lines only:
        ("holders", np.int64, 2),  # lines that hold a rank, 4 bits per rank
        ("suited_lines", np.int64, (2, NUM_SUITS)),  # SUITED lines of a suit
        ("needed_cards", np.int64, (2, NUM_SUITS)),  # cards that the SUITED lines lack
        ("type_counts", np.int64, (2, 4)),
    ],
    align=True,
)

LineStatistics = Any  # one record of LINE_STATISTICS; numpy has no static type for the fields of a record


@kernel
def update_line(stats: LineStatistics, grid: Cards, line: int) -> None:
    """Read one line of the grid into `stats`."""
    num_cards, ranks, suits, counts, pairs = scan_line(grid, line)
    suit = LOWEST_BIT[suits] if suits & (suits - 1) == 0 else -1
    if num_cards == SIDE:
        line_type = COMPLETE
    elif num_cards == 0:
        line_type = EMPTY
    elif pairs > 0:
        line_type = PAIRED
    elif suit >= 0 and num_cards > 1:
        line_type = SUITED
    else:
        line_type = MIXED
    stats["num_cards"][line] = num_cards
    stats["ranks"][line] = ranks
    stats["suits"][line] = suits
    stats["counts"][line] = counts
    stats["pairs"][line] = pairs
    stats["suit"][line] = suit
    stats["line_type"][line] = line_type
    traits = num_cards << TRAIT_CARDS
    if line_type == SUITED:
        traits |= 1 << TRAIT_SUITED | 1 << (TRAIT_OF_SUIT + 4 * suit)
    elif line_type == PAIRED:
        traits |= 1 << TRAIT_PAIRED
    if num_cards == SIDE - 1:
        traits |= 1 << TRAIT_LACKS_ONE
    stats["traits"][line] = traits


@kernel
def line_contents(stats: LineStatistics, line: int) -> Line:
    """Contents of a line of `stats`."""
    num_cards, ranks = np.int64(stats["num_cards"][line]), np.int64(stats["ranks"][line])
    suits, counts = np.int64(stats["suits"][line]), np.int64(stats["counts"][line])
    return int(num_cards), int(ranks), int(suits), int(counts), int(stats["pairs"][line])


@kernel
def update_unseen(stats: LineStatistics, grid: Cards, card: int) -> None:
    """Count the unseen cards, with `card` face up (-1: none), and their probabilities of turning up."""
    for suit in range(NUM_SUITS):
        stats["seen_ranks"][suit] = 0
        stats["unseen_by_suit"][suit] = NUM_RANKS
    for rank in range(NUM_RANKS):
        stats["unseen_by_rank"][rank] = NUM_SUITS
    seen = 0
    for index in range(NUM_CELLS + 1):
        shown = np.int64(grid[index]) if index < NUM_CELLS else np.int64(card)
        if shown >= 0:
            seen += 1
            stats["seen_ranks"][shown & 3] |= 1 << (shown >> 2)
            stats["unseen_by_suit"][shown & 3] -= 1
            stats["unseen_by_rank"][shown >> 2] -= 1
    stats["seen"] = seen
    for rank in range(NUM_RANKS):
        stats["chance"][rank] = AT_LEAST_PROBABILITY[seen, stats["unseen_by_rank"][rank], 1]


@kernel
def add_to_line_counts(stats: LineStatistics, line: int, weight: int) -> None:
    """Add (weight 1) or remove (-1) an open line in the counts of its orientation."""
    line_type = stats["line_type"][line]
    if line_type == COMPLETE:
        return
    orientation = 0 if line < SIDE else 1
    stats["type_counts"][orientation, line_type] += weight
    counts = stats["counts"][line]
    stats["holders"][orientation] += weight * ((counts | counts >> 1 | counts >> 2) & _ONES)
    if line_type == SUITED:
        suit = stats["suit"][line]
        stats["suited_lines"][orientation, suit] += weight
        stats["needed_cards"][orientation, suit] += weight * (SIDE - stats["num_cards"][line])


@kernel
def compute_line_statistics(stats: LineStatistics, grid: Cards, card: int) -> None:
    """Fill `stats` from the grid and the face-up card (-1: none, or unknown)."""
    update_unseen(stats, grid, card)
    for orientation in range(2):
        stats["holders"][orientation] = 0
        for suit in range(NUM_SUITS):
            stats["suited_lines"][orientation, suit] = 0
            stats["needed_cards"][orientation, suit] = 0
            stats["type_counts"][orientation, suit] = 0
    for line in range(NUM_LINES):
        update_line(stats, grid, line)
        add_to_line_counts(stats, line, 1)


@kernel
def set_cell(stats: LineStatistics, grid: Cards, cell: int, card: int) -> None:
    """Put `card` on one cell (-1: none) and update the statistics of its row and column."""
    row, column = cell // SIDE, SIDE + cell % SIDE
    add_to_line_counts(stats, row, -1)
    add_to_line_counts(stats, column, -1)
    grid[cell] = card
    update_line(stats, grid, row)
    update_line(stats, grid, column)
    add_to_line_counts(stats, row, 1)
    add_to_line_counts(stats, column, 1)
