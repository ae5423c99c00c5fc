"""Lines told by codes: eighteen whole numbers for each, one for each thing that a line is told by.

Each number is an entry in one vocabulary (NUM_CODES), so that a network learns a vector for each and adds them up
(networks/sparse_lines.py). What a card would make of a line is told beside the lines as they were before it: the other
lines need not be told anew for each cell that the card may go to. Source of the idea: the hand patterns of Neller,
Messinger and Yang 2013, here without a table of all their combinations.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS
from cardlab.games.cards.hands import Int
from cardlab.games.poker_squares.line_statistics import (
    EMPTY,
    NUM_WINDOWS,
    SUITED,
    TRAIT_CARDS,
    TRAIT_OF_SUIT,
    TRAIT_PAIRED,
    TRAIT_SHARES,
    WINDOW_MASKS,
    Board,
)
from cardlab.games.poker_squares.patterns import GROUP_OF_PAIRS, NUM_GROUPS
from cardlab.games.poker_squares.rules import NUM_CELLS, SIDE

NUM_PERIODS, NUM_EPOCHS = 7, 5  # of a game, of four turns and of six
NUM_COUNTS = SIDE + 1  # of lines of one orientation: 0 … 5

# Sizes of what a code is made of, the last varies fastest; periods and epochs first where time plays a part.
FIELDS: dict[str, tuple[int, ...]] = {
    "place": (2, NUM_CELLS, SIDE),  # rows or columns; turn; cards in the line
    "kind": (NUM_PERIODS, SIDE, NUM_GROUPS, 2),  # cards; equal ranks; whether of one suit
    "suit_spare": (NUM_PERIODS, SIDE, 10),  # cards of the suit beyond those needed
    "suit_left": (NUM_PERIODS, SIDE, 13),  # the same once rivals have had theirs
    "suit_crossing": (NUM_PERIODS, SIDE, 4),  # lines across that collect the suit
    "rank": (NUM_EPOCHS, 4, 4, 3),  # the rank held most: held, unseen, rivals that hold it
    "rank_crossing": (NUM_PERIODS, 4, 4, 3),  # held, unseen, lines across that hold it
    "second_rank": (NUM_PERIODS, 4, 4, 3),
    "copies": (NUM_PERIODS, NUM_GROUPS, 5),  # unseen, of the ranks that make the line
    "straight": (NUM_PERIODS, SIDE, 6),  # runs that it fits in; of four cards: cards that complete it
    "straight_flush": (NUM_PERIODS, SIDE, 2),
    "company": (SIDE, NUM_COUNTS, NUM_COUNTS),  # cards; rivals that are suited, rivals that are empty
    "suited_company": (NUM_PERIODS, 2, NUM_COUNTS, 2),  # whether of one suit; suited rivals; rows or columns
    "crossing_suit": (NUM_EPOCHS, 2, NUM_COUNTS),  # open cells whose other line collects the suit
    "crossing_cards": (2, SIDE, 11),  # in the lines that cross at open cells, by twos
    "last_card": (NUM_EPOCHS, 360),  # of four cards: what completes them
    "crossings": (NUM_EPOCHS, SIDE, NUM_COUNTS, NUM_COUNTS),  # lines at open cells that share a rank; that are paired
    "others": (NUM_COUNTS, NUM_COUNTS, NUM_COUNTS, NUM_EPOCHS),  # rivals suited, empty; lines across suited
}
CODES_A_LINE = len(FIELDS)
_SIZES = [int(np.prod(sizes)) for sizes in FIELDS.values()]
NUM_CODES = sum(_SIZES)
_STARTS = np.concatenate(([0], np.cumsum(_SIZES)[:-1])).astype(np.int64)
(
    PLACE,
    KIND,
    SUIT_SPARE,
    SUIT_LEFT,
    SUIT_CROSSING,
    RANK,
    RANK_CROSSING,
    SECOND_RANK,
    COPIES,
    STRAIGHT,
    STRAIGHT_FLUSH_CODE,
    COMPANY,
    SUITED_COMPANY,
    CROSSING_SUIT,
    CROSSING_CARDS,
    LAST_CARD,
    CROSSINGS,
    OTHERS,
) = range(CODES_A_LINE)

_ALL_RANKS = (1 << NUM_RANKS) - 1
_BITS = np.array([mask.bit_count() for mask in range(1 << NUM_RANKS)], dtype=np.int64)
_LOWEST = np.array([(mask & -mask).bit_length() - 1 for mask in range(1 << NUM_RANKS)], dtype=np.int64)


def _windows(fits: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[8192] masks of the runs for which `fits` [8192, runs]."""
    return (fits << np.arange(NUM_WINDOWS)).sum(axis=1)


_RANK_SETS = np.arange(1 << NUM_RANKS)[:, None]
_RUNS_OVER = _windows(_RANK_SETS & ~WINDOW_MASKS == 0)  # runs that hold all of these ranks
_RUNS_WITHIN = _windows(WINDOW_MASKS & ~_RANK_SETS == 0)  # runs that these ranks hold

Codes = NDArray[np.int64]  # [18] of one line


@kernel
def crossings(board: Board, grid: NDArray[np.int8], line: int, rank: int) -> tuple[int, int]:
    """Traits of the lines that cross `line` at its open cells, summed (boards.py), with those that share a rank.

    A second sum is for the line with a card of `rank` in it.
    """
    total = np.int64(0)
    shares = shares_with = np.int64(0)
    ranks = np.int64(board["ranks"][line])
    for position in range(SIDE):
        across = SIDE + position if line < SIDE else position
        cell = SIDE * line + position if line < SIDE else SIDE * position + line - SIDE
        if grid[cell] < 0:
            total += board["traits"][across]
            others = np.int64(board["ranks"][across])
            shares += 1 if others & ranks else 0
            shares_with += 1 if others & (ranks | 1 << rank) else 0
    return int(total + (shares << TRAIT_SHARES)), int(total + (shares_with << TRAIT_SHARES))


@kernel
def code_line(
    board: Board, line: int, told: tuple[int, int, int, int, int], turn: int, crossing: int, out: Codes
) -> None:
    """Fill `out` [18] for an open line that holds what is `told` (as scan_line does), with `turn` cards on the grid.

    `board` holds the line as it was before, which is no rival to itself.
    """
    way = 0 if line < SIDE else 1
    period, epoch = turn >> 2, turn // 6
    num_cards, _, suits, _, pairs = told
    group = np.int64(GROUP_OF_PAIRS[pairs])
    suited = 1 if num_cards > 0 and suits & (suits - 1) == 0 and pairs == 0 else 0
    sized = period * SIDE + num_cards
    _put(out, PLACE, (way * NUM_CELLS + turn) * SIDE + num_cards)
    _put(out, KIND, (sized * NUM_GROUPS + group) * 2 + suited)
    unseen = _code_suit(board, line, num_cards, suits if suited else 0, sized, epoch, crossing, out)
    copies = _code_ranks(board, line, told, period, epoch, out)
    _put(out, COPIES, (period * NUM_GROUPS + group) * 5 + copies)
    straight = _code_straight(board, told, suited, sized, out)
    if num_cards < SIDE - 1:
        completed = 359
    elif pairs == 0:
        completed = ((min(unseen, 9) if suited else 10) * 6 + straight) * 5 + copies
    else:
        completed = 330 + group * 5 + copies
    _put(out, LAST_CARD, epoch * 360 + completed)
    _code_company(board, line, num_cards, suited, crossing, period, epoch, out)


@kernel
def _put(out: Codes, code: int, index: Int) -> None:
    out[code] = _STARTS[code] + index


@kernel
def _code_suit(
    board: Board, line: int, num_cards: int, suits: int, sized: int, epoch: int, crossing: int, out: Codes
) -> int:
    """What a line of one suit may still get (`suits`: its mask; 0: no such line); how many of its suit are unseen."""
    if suits == 0:
        _put(out, SUIT_SPARE, sized * 10)
        _put(out, SUIT_LEFT, sized * 13)
        _put(out, SUIT_CROSSING, sized * 4)
        _put(out, CROSSING_SUIT, epoch * 2 * NUM_COUNTS)
        return 0
    way = 0 if line < SIDE else 1
    suit = np.int64(_LOWEST[suits])
    unseen = np.int64(board["unseen_by_suit"][suit])
    spare = unseen - (SIDE - num_cards)
    demand = np.int64(board["demand"][way, suit])
    if board["purpose"][line] == SUITED and board["suit"][line] == suit:
        demand -= SIDE - np.int64(board["num_cards"][line])
    _put(out, SUIT_SPARE, sized * 10 + min(max(spare, -1), 8) + 1)
    _put(out, SUIT_LEFT, sized * 13 + min(max(spare - demand, -5), 7) + 5)
    _put(out, SUIT_CROSSING, sized * 4 + min(np.int64(board["collectors"][1 - way, suit]), 3))
    collecting = (crossing >> (TRAIT_OF_SUIT + 4 * suit)) & 15
    _put(out, CROSSING_SUIT, (epoch * 2 + 1) * NUM_COUNTS + collecting)
    return int(unseen)


@kernel
def _code_ranks(
    board: Board, line: int, told: tuple[int, int, int, int, int], period: int, epoch: int, out: Codes
) -> int:
    """What the line may get of the two ranks that it holds most of; 0 … 4 by what is unseen of all that make it."""
    _, ranks, _, counts, pairs = told
    first = second = np.int64(-1)  # held, unseen, rank: 4 bits each
    copies = wanted = np.int64(0)
    left = ranks
    while left:
        rank = np.int64(_LOWEST[left])
        left &= left - 1
        held = (counts >> (4 * rank)) & 15
        unseen = np.int64(board["unseen_by_rank"][rank])
        key = held << 8 | unseen << 4 | rank
        if key > first:
            first, second = key, first
        elif key > second:
            second = key
        if pairs == 0 or held > 1:
            copies += unseen
            wanted += NUM_SUITS - held
    way = 0 if line < SIDE else 1
    index, rank = _held_and_unseen(first)
    _put(out, RANK, (epoch * 16 + index) * 3 + _rivals(board, line, way, rank))
    _put(out, RANK_CROSSING, (period * 16 + index) * 3 + _holders(board, 1 - way, rank))
    index, rank = _held_and_unseen(second)
    _put(out, SECOND_RANK, (period * 16 + index) * 3 + _rivals(board, line, way, rank))
    if pairs > 0:
        return int(min(copies, 4))
    return int((copies * 4 + wanted - 1) // wanted) if wanted > 0 else 0


@kernel
def _held_and_unseen(key: Int) -> tuple[int, int]:
    """0 … 15 by both, and the rank; 0 and −1 where there is none."""
    if key < 0:
        return 0, -1
    return int(((key >> 8) - 1) * 4 + (key >> 4 & 15)), int(key & 15)


@kernel
def _holders(board: Board, way: int, rank: int) -> int:
    """Lines of one orientation that hold `rank`, two at most."""
    return int(min((board["holders"][way] >> (4 * rank)) & 15, 2)) if rank >= 0 else 0


@kernel
def _rivals(board: Board, line: int, way: int, rank: int) -> int:
    """The same without `line` itself."""
    if rank < 0:
        return 0
    holders = (board["holders"][way] >> (4 * rank)) & 15
    return int(min(holders - ((np.int64(board["ranks"][line]) >> rank) & 1), 2))


@kernel
def _code_straight(board: Board, told: tuple[int, int, int, int, int], suited: int, sized: int, out: Codes) -> int:
    """0 … 5 by the runs that the line fits in, or for a line of four by the cards that complete it."""
    num_cards, ranks, suits, _, pairs = told
    straight = flush_too = np.int64(0)
    if num_cards > 0 and pairs == 0 and _RUNS_OVER[ranks]:
        seen = board["seen_ranks"]
        available = _ALL_RANKS & ~(np.int64(seen[0]) & seen[1] & seen[2] & seen[3])
        runs = np.int64(_RUNS_OVER[ranks] & _RUNS_WITHIN[ranks | available])
        if suited:
            of_suit = _ALL_RANKS & ~np.int64(seen[_LOWEST[suits]])
            flush_too += 1 if _RUNS_OVER[ranks] & _RUNS_WITHIN[ranks | of_suit] else 0
        if num_cards < SIDE - 1:
            straight += min(_BITS[runs], 5)
        else:
            outs = np.int64(0)
            while runs:
                outs += board["unseen_by_rank"][_LOWEST[WINDOW_MASKS[_LOWEST[runs]] & ~ranks]]
                runs &= runs - 1
            straight += min((outs + 1) // 2, 5)
    _put(out, STRAIGHT, sized * 6 + straight)
    _put(out, STRAIGHT_FLUSH_CODE, sized * 2 + flush_too)
    return int(straight)


@kernel
def _code_company(
    board: Board, line: int, num_cards: int, suited: int, crossing: int, period: int, epoch: int, out: Codes
) -> None:
    """What the other lines are for: those of the same orientation, and those that cross at open cells."""
    way = 0 if line < SIDE else 1
    purpose = board["purpose"][line]
    rivals_suited = np.int64(board["purposes"][way, SUITED]) - (1 if purpose == SUITED else 0)
    rivals_empty = np.int64(board["purposes"][way, EMPTY]) - (1 if purpose == EMPTY else 0)
    across_suited = np.int64(board["purposes"][1 - way, SUITED])
    _put(out, COMPANY, (num_cards * NUM_COUNTS + rivals_suited) * NUM_COUNTS + rivals_empty)
    _put(out, SUITED_COMPANY, ((period * 2 + suited) * NUM_COUNTS + rivals_suited) * 2 + way)
    cards = (crossing >> TRAIT_CARDS) & 255
    _put(out, CROSSING_CARDS, (way * SIDE + num_cards) * 11 + min(cards >> 1, 10))
    sharing, paired = (crossing >> TRAIT_SHARES) & 15, (crossing >> TRAIT_PAIRED) & 15
    _put(out, CROSSINGS, ((epoch * SIDE + num_cards) * NUM_COUNTS + sharing) * NUM_COUNTS + paired)
    _put(out, OTHERS, ((rivals_suited * NUM_COUNTS + rivals_empty) * NUM_COUNTS + across_suited) * NUM_EPOCHS + epoch)
