"""Sparse features of lines: eighteen indices per line into one vocabulary of NUM_SPARSE_FEATURES.

A network learns one vector per index and sums them (networks/sparse_lines.py). A placement changes the features of its
row and column only: the other lines keep the features that they had before the card.
Source of the idea: hand patterns of Neller, Messinger and Yang 2013, here without a table of all combinations.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS
from cardlab.games.cards.hands import STRAIGHT_MASKS, Int
from cardlab.games.poker_squares.line_statistics import (
    EMPTY,
    LOWEST_BIT,
    SUITED,
    TRAIT_CARDS,
    TRAIT_OF_SUIT,
    TRAIT_PAIRED,
    TRAIT_SHARES,
    LineStatistics,
)
from cardlab.games.poker_squares.patterns import GROUP_OF_PAIRS, NUM_GROUPS
from cardlab.games.poker_squares.rules import NUM_CELLS, SIDE, Line

NUM_PERIODS, NUM_PHASES = 7, 5  # of four turns and of six turns
NUM_COUNTS = SIDE + 1  # of lines of one orientation: 0 … 5

# Sizes of the components of a feature; the last component varies fastest.
SPARSE_FEATURE_SIZES: dict[str, tuple[int, ...]] = {
    "place": (2, NUM_CELLS, SIDE),  # rows or columns; turn; cards in the line
    "kind": (NUM_PERIODS, SIDE, NUM_GROUPS, 2),  # cards; equal ranks; whether of one suit
    "suit_spare": (NUM_PERIODS, SIDE, 10),  # cards of the suit beyond those needed
    "suit_left": (NUM_PERIODS, SIDE, 13),  # spare cards of the suit less the rivals' needs
    "suit_crossing": (NUM_PERIODS, SIDE, 4),  # crossing lines that collect the suit
    "rank": (NUM_PHASES, 4, 4, 3),  # most frequent rank: held, unseen, rivals that hold it
    "rank_crossing": (NUM_PERIODS, 4, 4, 3),  # most frequent rank: held, unseen, crossing lines that hold it
    "second_rank": (NUM_PERIODS, 4, 4, 3),
    "copies": (NUM_PERIODS, NUM_GROUPS, 5),  # equal ranks; unseen copies of the ranks that make the hand
    "straight": (NUM_PERIODS, SIDE, 6),  # runs that fit; for four cards: cards that complete it
    "straight_flush": (NUM_PERIODS, SIDE, 2),
    "parallel_lines": (SIDE, NUM_COUNTS, NUM_COUNTS),  # cards; suited rivals; empty rivals
    "parallel_suited": (NUM_PERIODS, 2, NUM_COUNTS, 2),  # whether of one suit; suited rivals; rows or columns
    "crossing_suit": (NUM_PHASES, 2, NUM_COUNTS),  # whether of one suit; crossing lines that collect it
    "crossing_cards": (2, SIDE, 11),  # rows or columns; cards; cards in crossing lines at open cells / 2
    "last_card": (NUM_PHASES, 360),  # for four cards: the cards that complete the line
    "crossings": (NUM_PHASES, SIDE, NUM_COUNTS, NUM_COUNTS),  # cards; crossing lines that share a rank; that are paired
    "others": (NUM_COUNTS, NUM_COUNTS, NUM_COUNTS, NUM_PHASES),  # suited rivals; empty rivals; suited crossing lines
}
FEATURES_PER_LINE = len(SPARSE_FEATURE_SIZES)
_SIZES = [int(np.prod(sizes)) for sizes in SPARSE_FEATURE_SIZES.values()]
NUM_SPARSE_FEATURES = sum(_SIZES)
_STARTS = np.concatenate(([0], np.cumsum(_SIZES)[:-1])).astype(np.int64)
PLACE, KIND, SUIT_SPARE, SUIT_LEFT, SUIT_CROSSING, RANK = range(6)
RANK_CROSSING, SECOND_RANK, COPIES, STRAIGHT, STRAIGHT_FLUSH_FEATURE, PARALLEL_LINES = range(6, 12)
PARALLEL_SUITED, CROSSING_SUIT, CROSSING_CARDS, LAST_CARD, CROSSINGS, OTHERS = range(12, 18)

_ALL_RANKS = (1 << NUM_RANKS) - 1
_BITS = np.array([mask.bit_count() for mask in range(1 << NUM_RANKS)], dtype=np.int64)


def _windows(fits: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[8192] masks of the runs for which `fits` [8192, runs]."""
    return (fits << np.arange(len(STRAIGHT_MASKS))).sum(axis=1)


_RANK_SETS = np.arange(1 << NUM_RANKS)[:, None]
_RUNS_OVER = _windows(_RANK_SETS & ~STRAIGHT_MASKS == 0)  # runs that contain all ranks of the set
_RUNS_WITHIN = _windows(STRAIGHT_MASKS & ~_RANK_SETS == 0)  # runs contained in the set

SparseLine = NDArray[np.int64]  # [18] of one line


@kernel
def sum_crossing_traits(stats: LineStatistics, grid: NDArray[np.int8], line: int, rank: int) -> tuple[int, int]:
    """Sum of the traits of the lines that cross `line` at open cells, without and with a card of `rank` in `line`.

    TRAIT_SHARES counts the crossing lines that share a rank with `line`.
    """
    total = np.int64(0)
    shares = shares_with = np.int64(0)
    ranks = np.int64(stats["ranks"][line])
    for position in range(SIDE):
        across = SIDE + position if line < SIDE else position
        cell = SIDE * line + position if line < SIDE else SIDE * position + line - SIDE
        if grid[cell] < 0:
            total += stats["traits"][across]
            others = np.int64(stats["ranks"][across])
            shares += 1 if others & ranks else 0
            shares_with += 1 if others & (ranks | 1 << rank) else 0
    return int(total + (shares << TRAIT_SHARES)), int(total + (shares_with << TRAIT_SHARES))


@kernel
def encode_sparse_line(
    stats: LineStatistics,
    line: int,
    contents: Line,
    turn: int,
    crossing: int,
    out: SparseLine,
) -> None:
    """Fill `out` [18] for an open line with these contents and `turn` cards on the grid.

    `stats` describes the line before the card; a line is no rival of itself.
    """
    orientation = 0 if line < SIDE else 1
    period, phase = turn >> 2, turn // 6
    num_cards, _, suits, _, pairs = contents
    group = np.int64(GROUP_OF_PAIRS[pairs])
    suited = 1 if num_cards > 0 and suits & (suits - 1) == 0 and pairs == 0 else 0
    sized = period * SIDE + num_cards
    _set_feature(out, PLACE, (orientation * NUM_CELLS + turn) * SIDE + num_cards)
    _set_feature(out, KIND, (sized * NUM_GROUPS + group) * 2 + suited)
    unseen = _encode_suit(stats, line, num_cards, suits if suited else 0, sized, phase, crossing, out)
    copies = _encode_rank_features(stats, line, contents, period, phase, out)
    _set_feature(out, COPIES, (period * NUM_GROUPS + group) * 5 + copies)
    straight = _encode_straight_features(stats, contents, suited, sized, out)
    if num_cards < SIDE - 1:
        completed = 359
    elif pairs == 0:
        completed = ((min(unseen, 9) if suited else 10) * 6 + straight) * 5 + copies
    else:
        completed = 330 + group * 5 + copies
    _set_feature(out, LAST_CARD, phase * 360 + completed)
    _encode_other_lines(stats, line, num_cards, suited, crossing, period, phase, out)


@kernel
def _set_feature(out: SparseLine, code: int, index: Int) -> None:
    out[code] = _STARTS[code] + index


@kernel
def _encode_suit(
    stats: LineStatistics, line: int, num_cards: int, suits: int, sized: int, phase: int, crossing: int, out: SparseLine
) -> int:
    """Write the flush features (`suits`: mask of a line of one suit, else 0); return the unseen cards of the suit."""
    if suits == 0:
        _set_feature(out, SUIT_SPARE, sized * 10)
        _set_feature(out, SUIT_LEFT, sized * 13)
        _set_feature(out, SUIT_CROSSING, sized * 4)
        _set_feature(out, CROSSING_SUIT, phase * 2 * NUM_COUNTS)
        return 0
    orientation = 0 if line < SIDE else 1
    suit = np.int64(LOWEST_BIT[suits])
    unseen = np.int64(stats["unseen_by_suit"][suit])
    spare = unseen - (SIDE - num_cards)
    needed_cards = np.int64(stats["needed_cards"][orientation, suit])
    if stats["line_type"][line] == SUITED and stats["suit"][line] == suit:
        needed_cards -= SIDE - np.int64(stats["num_cards"][line])
    _set_feature(out, SUIT_SPARE, sized * 10 + min(max(spare, -1), 8) + 1)
    _set_feature(out, SUIT_LEFT, sized * 13 + min(max(spare - needed_cards, -5), 7) + 5)
    _set_feature(out, SUIT_CROSSING, sized * 4 + min(np.int64(stats["suited_lines"][1 - orientation, suit]), 3))
    collecting = (crossing >> (TRAIT_OF_SUIT + 4 * suit)) & 15
    _set_feature(out, CROSSING_SUIT, (phase * 2 + 1) * NUM_COUNTS + collecting)
    return int(unseen)


@kernel
def _encode_rank_features(
    stats: LineStatistics, line: int, contents: Line, period: int, phase: int, out: SparseLine
) -> int:
    """Write the features of the two most frequent ranks; return 0 to 4 by unseen copies of the ranks of the hand."""
    _, ranks, _, counts, pairs = contents
    first = second = np.int64(-1)  # fields of 4 bits: held, unseen, rank
    copies = wanted = np.int64(0)
    left = ranks
    while left:
        rank = np.int64(LOWEST_BIT[left])
        left &= left - 1
        held = (counts >> (4 * rank)) & 15
        unseen = np.int64(stats["unseen_by_rank"][rank])
        key = held << 8 | unseen << 4 | rank
        if key > first:
            first, second = key, first
        elif key > second:
            second = key
        if pairs == 0 or held > 1:
            copies += unseen
            wanted += NUM_SUITS - held
    orientation = 0 if line < SIDE else 1
    index, rank = _held_and_unseen(first)
    _set_feature(out, RANK, (phase * 16 + index) * 3 + _rivals(stats, line, orientation, rank))
    _set_feature(out, RANK_CROSSING, (period * 16 + index) * 3 + _holders(stats, 1 - orientation, rank))
    index, rank = _held_and_unseen(second)
    _set_feature(out, SECOND_RANK, (period * 16 + index) * 3 + _rivals(stats, line, orientation, rank))
    if pairs > 0:
        return int(min(copies, 4))
    return int((copies * 4 + wanted - 1) // wanted) if wanted > 0 else 0


@kernel
def _held_and_unseen(key: Int) -> tuple[int, int]:
    """0 to 15 by cards held and unseen, and the rank; 0 and -1 without a rank."""
    if key < 0:
        return 0, -1
    return int(((key >> 8) - 1) * 4 + (key >> 4 & 15)), int(key & 15)


@kernel
def _holders(stats: LineStatistics, orientation: int, rank: int) -> int:
    """Lines of one orientation that hold `rank`, at most 2."""
    return int(min((stats["holders"][orientation] >> (4 * rank)) & 15, 2)) if rank >= 0 else 0


@kernel
def _rivals(stats: LineStatistics, line: int, orientation: int, rank: int) -> int:
    """Lines of one orientation except `line` that hold `rank`, at most 2."""
    if rank < 0:
        return 0
    holders = (stats["holders"][orientation] >> (4 * rank)) & 15
    return int(min(holders - ((np.int64(stats["ranks"][line]) >> rank) & 1), 2))


@kernel
def _encode_straight_features(stats: LineStatistics, contents: Line, suited: int, sized: int, out: SparseLine) -> int:
    """Write the straight features; return 0 to 5 by the runs that fit, or for four cards by the completing cards."""
    num_cards, ranks, suits, _, pairs = contents
    straight = flush_too = np.int64(0)
    if num_cards > 0 and pairs == 0 and _RUNS_OVER[ranks]:
        seen = stats["seen_ranks"]
        available = _ALL_RANKS & ~(np.int64(seen[0]) & seen[1] & seen[2] & seen[3])
        runs = np.int64(_RUNS_OVER[ranks] & _RUNS_WITHIN[ranks | available])
        if suited:
            of_suit = _ALL_RANKS & ~np.int64(seen[LOWEST_BIT[suits]])
            flush_too += 1 if _RUNS_OVER[ranks] & _RUNS_WITHIN[ranks | of_suit] else 0
        if num_cards < SIDE - 1:
            straight += min(_BITS[runs], 5)
        else:
            outs = np.int64(0)
            while runs:
                outs += stats["unseen_by_rank"][LOWEST_BIT[STRAIGHT_MASKS[LOWEST_BIT[runs]] & ~ranks]]
                runs &= runs - 1
            straight += min((outs + 1) // 2, 5)
    _set_feature(out, STRAIGHT, sized * 6 + straight)
    _set_feature(out, STRAIGHT_FLUSH_FEATURE, sized * 2 + flush_too)
    return int(straight)


@kernel
def _encode_other_lines(
    stats: LineStatistics,
    line: int,
    num_cards: int,
    suited: int,
    crossing: int,
    period: int,
    phase: int,
    out: SparseLine,
) -> None:
    """Write the features of the other lines: parallel lines, and crossing lines at open cells."""
    orientation = 0 if line < SIDE else 1
    line_type = stats["line_type"][line]
    rivals_suited = np.int64(stats["type_counts"][orientation, SUITED]) - (1 if line_type == SUITED else 0)
    rivals_empty = np.int64(stats["type_counts"][orientation, EMPTY]) - (1 if line_type == EMPTY else 0)
    across_suited = np.int64(stats["type_counts"][1 - orientation, SUITED])
    _set_feature(out, PARALLEL_LINES, (num_cards * NUM_COUNTS + rivals_suited) * NUM_COUNTS + rivals_empty)
    _set_feature(out, PARALLEL_SUITED, ((period * 2 + suited) * NUM_COUNTS + rivals_suited) * 2 + orientation)
    cards = (crossing >> TRAIT_CARDS) & 255
    _set_feature(out, CROSSING_CARDS, (orientation * SIDE + num_cards) * 11 + min(cards >> 1, 10))
    sharing, paired = (crossing >> TRAIT_SHARES) & 15, (crossing >> TRAIT_PAIRED) & 15
    _set_feature(out, CROSSINGS, ((phase * SIDE + num_cards) * NUM_COUNTS + sharing) * NUM_COUNTS + paired)
    _set_feature(
        out, OTHERS, ((rivals_suited * NUM_COUNTS + rivals_empty) * NUM_COUNTS + across_suited) * NUM_PHASES + phase
    )
