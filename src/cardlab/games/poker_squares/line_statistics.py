"""A survey of one grid: what the features of its lines are computed from, gathered once for all ten lines."""

from typing import Any

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS, Cards
from cardlab.games.poker_squares.draw_probability import AT_LEAST
from cardlab.games.poker_squares.rules import NUM_CELLS, NUM_LINES, SIDE, scan_line

NUM_WINDOWS = 10  # runs of five ranks: A to 5 is window 0, T to A is window 9
WINDOW_RANKS = np.array([[(window + step - 1) % NUM_RANKS for step in range(SIDE)] for window in range(NUM_WINDOWS)])
WINDOW_MASKS = (1 << WINDOW_RANKS).sum(axis=1)

# What an open line is for, as its competitors see it.
EMPTY, SUITED, PAIRED, MIXED = range(4)
COMPLETE = -1

# Traits of a line, each a field of 4 bits (cards: 5 bits), so that a sum of traits counts them all at once.
TRAIT_CARDS, TRAIT_PAIRED, TRAIT_LACKS_ONE, TRAIT_SHARES, TRAIT_SUITED, TRAIT_OF_SUIT = 0, 8, 12, 16, 20, 24
_ONES = 0x1111111111111  # one in each field of the counts of ranks

BOARD = np.dtype(
    [
        ("num_cards", np.int8, NUM_LINES),
        ("pairs", np.int8, NUM_LINES),  # of equal ranks
        ("suits", np.int8, NUM_LINES),  # mask
        ("suit", np.int8, NUM_LINES),  # the one suit of its cards, -1 when there are none or several
        ("purpose", np.int8, NUM_LINES),
        ("ranks", np.int32, NUM_LINES),  # mask
        ("counts", np.int64, NUM_LINES),  # 4 bits a rank
        ("traits", np.int64, NUM_LINES),
        ("seen", np.int64),  # cards on the grid and the one turned up
        ("seen_ranks", np.int32, NUM_SUITS),  # mask of the ranks seen in each suit
        ("unseen_by_rank", np.int64, NUM_RANKS),
        ("unseen_by_suit", np.int64, NUM_SUITS),
        ("slots", np.int64, SIDE),  # scratch of the encoder
        ("chance", np.float32, NUM_RANKS),  # that at least one of the unseen cards of a rank turns up
        # by orientation (0 rows, 1 columns), open lines only:
        ("holders", np.int64, 2),  # lines that hold a rank, 4 bits a rank
        ("collectors", np.int64, (2, NUM_SUITS)),  # SUITED lines of a suit
        ("demand", np.int64, (2, NUM_SUITS)),  # cards that these lack
        ("purposes", np.int64, (2, 4)),
    ],
    align=True,
)

Board = Any  # one record of BOARD; numpy has no static type for the fields of a record


@kernel
def survey_line(board: Board, grid: Cards, line: int) -> None:
    """Read one line of the grid into `board`."""
    num_cards, ranks, suits, counts, pairs = scan_line(grid, line)
    suit = -1
    if num_cards > 0 and suits & (suits - 1) == 0:
        suit = 0
        while suits >> suit != 1:
            suit += 1
    if num_cards == SIDE:
        purpose = COMPLETE
    elif num_cards == 0:
        purpose = EMPTY
    elif pairs > 0:
        purpose = PAIRED
    elif suit >= 0 and num_cards > 1:
        purpose = SUITED
    else:
        purpose = MIXED
    board["num_cards"][line] = num_cards
    board["ranks"][line] = ranks
    board["suits"][line] = suits
    board["counts"][line] = counts
    board["pairs"][line] = pairs
    board["suit"][line] = suit
    board["purpose"][line] = purpose
    traits = num_cards << TRAIT_CARDS
    if purpose == SUITED:
        traits |= 1 << TRAIT_SUITED | 1 << (TRAIT_OF_SUIT + 4 * suit)
    elif purpose == PAIRED:
        traits |= 1 << TRAIT_PAIRED
    if num_cards == SIDE - 1:
        traits |= 1 << TRAIT_LACKS_ONE
    board["traits"][line] = traits


@kernel
def survey_unseen(board: Board, grid: Cards, card: int) -> None:
    """Count the cards not seen, with `card` turned up (-1: none), and their chances to turn up."""
    for suit in range(NUM_SUITS):
        board["seen_ranks"][suit] = 0
        board["unseen_by_suit"][suit] = NUM_RANKS
    for rank in range(NUM_RANKS):
        board["unseen_by_rank"][rank] = NUM_SUITS
    seen = 0
    for index in range(NUM_CELLS + 1):
        shown = np.int64(grid[index]) if index < NUM_CELLS else np.int64(card)
        if shown >= 0:
            seen += 1
            board["seen_ranks"][shown & 3] |= 1 << (shown >> 2)
            board["unseen_by_suit"][shown & 3] -= 1
            board["unseen_by_rank"][shown >> 2] -= 1
    board["seen"] = seen
    for rank in range(NUM_RANKS):
        board["chance"][rank] = AT_LEAST[seen, board["unseen_by_rank"][rank], 1]


@kernel
def survey_demand(board: Board) -> None:
    """Count, by orientation, what the open lines hold, collect and lack."""
    for way in range(2):
        board["holders"][way] = 0
        for suit in range(NUM_SUITS):
            board["collectors"][way, suit] = 0
            board["demand"][way, suit] = 0
            board["purposes"][way, suit] = 0
    for line in range(NUM_LINES):
        count_line(board, line, 1)


@kernel
def count_line(board: Board, line: int, weight: int) -> None:
    """Add (weight 1) or take away (-1) an open line in the counts of its orientation."""
    purpose = board["purpose"][line]
    if purpose == COMPLETE:
        return
    way = 0 if line < SIDE else 1
    board["purposes"][way, purpose] += weight
    counts = board["counts"][line]
    board["holders"][way] += weight * ((counts | counts >> 1 | counts >> 2) & _ONES)
    if purpose == SUITED:
        suit = board["suit"][line]
        board["collectors"][way, suit] += weight
        board["demand"][way, suit] += weight * (SIDE - board["num_cards"][line])


@kernel
def survey(board: Board, grid: Cards, card: int) -> None:
    """Fill `board` from the grid and the card turned up (-1: none, or not known)."""
    survey_unseen(board, grid, card)
    for line in range(NUM_LINES):
        survey_line(board, grid, line)
    survey_demand(board)


@kernel
def change_cell(board: Board, grid: Cards, cell: int, card: int) -> None:
    """Put `card` on one cell (-1: none), on the grid and in the survey of its two lines."""
    row, column = cell // SIDE, SIDE + cell % SIDE
    count_line(board, row, -1)
    count_line(board, column, -1)
    grid[cell] = card
    survey_line(board, grid, row)
    survey_line(board, grid, column)
    count_line(board, row, 1)
    count_line(board, column, 1)
