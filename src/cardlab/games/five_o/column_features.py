"""Features of one column: its cards, its possible hands, and the opposite column.

All ten columns have equal features, so one encoder can serve them. The value of a column is the paper's `eval` of its
known cards.
"""

import math

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.hands import (
    CARD_KEYS,
    CATEGORIES,
    CATEGORY_STARTS,
    FLUSH,
    MAX_STRENGTH,
    PAIR,
    STRAIGHT,
    STRAIGHT_FLUSH,
    STRENGTH_CATEGORIES,
    Int,
    Strengths,
    guaranteed_strength,
    hand_size,
    suit_count,
)
from cardlab.games.five_o.hand_values import (
    SUITS_AT,
    Counts,
    combine_values,
    draws_left,
    fits_straight,
    flush_chance,
    rank_mask,
    straight_chance,
    suit_of_flush,
)
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_TURNS, Record, round_of
from cardlab.games.protocol import layout, width

ColumnStatistics = NDArray[np.float64]
Row = NDArray[np.float32]

# Brackets list the entries of a block.
LINE_BLOCKS = layout(
    own=(1,),  # 1 for the player's columns, 0 for those opposite
    ranks=(13,),  # known cards of each rank / 2
    suits=(4,),  # known cards of each suit / 5
    size=(5,),  # one-hot, 1 … 5, unknown cards included
    unknown=(1,),  # 1 if it holds a card hidden from the player
    made=(len(CATEGORIES),),  # one-hot: category of the known cards
    strength=(2,),  # [guaranteed strength, value], both / 7462
    flush=(3,),  # [all of one suit, unseen cards of it / 13, chance]
    straight=(2,),  # [possible, chance]
    open=(1,),  # 1 if it lacks the card of this round
    fit=(3,),  # the card to place, if legal here: [cards of its rank / 3, keeps one suit, keeps a straight]
    against=(5,),  # the opposite column: [guaranteed strength / 7462, value / 7462, flush chance, straight chance,
    # logarithm of the ratio of the two values / 4]
)
LINE_SIZE = width(LINE_BLOCKS)
OWN, _RANKS, _SUITS, _SIZE, _UNKNOWN, _MADE, _STRENGTH, _FLUSH, _STRAIGHT, _OPEN, _FIT, _AGAINST = (
    block.start for block in LINE_BLOCKS
)

UNIT = 1 / MAX_STRENGTH  # of strengths and values
LOG_RATIO = _AGAINST + 4  # index of the logarithm

_FIRST_PAIR = CATEGORY_STARTS[PAIR]

# Indices into the statistics of one column.
KEY, MASK, SIZE, AT_LEAST, VALUE, SUITED, SUIT_LEFT, FLUSH_CHANCE, STRAIGHT_OPEN, STRAIGHT_CHANCE = range(10)
NUM_STATISTICS = 10


@kernel
def compute_column_statistics(
    table: Strengths, state: Record, side: Int, column: Int, card: Int, unseen: Counts, stats: ColumnStatistics
) -> None:
    """Fill `stats` [10] for the known cards of a column, plus `card` unless it is negative."""
    key = np.int64(state["keys"][side, column])
    mask = rank_mask(state, side, column)
    if card >= 0:
        key += CARD_KEYS[card]
        mask |= 1 << (card >> 2)
    size = hand_size(key)
    current = guaranteed_strength(table, key, size)
    category = STRENGTH_CATEGORIES[current]
    suit = suit_of_flush(key, size)
    stats[KEY], stats[MASK], stats[SIZE], stats[AT_LEAST], stats[VALUE] = key, mask, size, current, current
    stats[SUITED] = suit >= 0
    stats[SUIT_LEFT] = unseen[SUITS_AT + suit] if suit >= 0 else 0
    stats[FLUSH_CHANCE] = category == FLUSH or category >= STRAIGHT_FLUSH
    stats[STRAIGHT_CHANCE] = category == STRAIGHT or category >= STRAIGHT_FLUSH
    stats[STRAIGHT_OPEN] = stats[STRAIGHT_CHANCE]
    if size < COLUMN_SIZE and category < PAIR:
        draws = draws_left(state, side, column)
        flush = flush_chance(key, size, unseen, draws)
        straight, least = straight_chance(mask, size, unseen, draws)
        stats[FLUSH_CHANCE], stats[STRAIGHT_CHANCE], stats[STRAIGHT_OPEN] = flush, straight, least >= 0
        stats[VALUE] = combine_values(float(current), size, flush, straight, least)


@kernel
def write_column(
    out: Row, state: Record, side: Int, column: Int, card: Int, stats: ColumnStatistics, other: ColumnStatistics
) -> None:
    """Write the features of a column, plus `card` unless it is negative, to `out` [LINE_SIZE] of zeros.

    `stats` are its statistics, `other` those of the opposite column. The caller writes the entries OWN and LOG_RATIO.
    """
    unknown = 0
    for slot in range(state["sizes"][side, column]):
        held = state["columns"][side, column, slot]
        if held >= 0:
            out[_RANKS + (held >> 2)] += 0.5
            out[_SUITS + (held & 3)] += 0.2
        else:
            unknown = 1
    size = np.int64(state["sizes"][side, column])
    if card >= 0:
        out[_RANKS + (card >> 2)] += 0.5
        out[_SUITS + (card & 3)] += 0.2
        size += 1
    out[_SIZE + size - 1] = 1.0
    out[_UNKNOWN] = unknown
    out[_MADE + STRENGTH_CATEGORIES[int(stats[AT_LEAST])]] = 1.0
    out[_STRENGTH] = stats[AT_LEAST] * UNIT
    out[_STRENGTH + 1] = stats[VALUE] * UNIT
    out[_FLUSH] = stats[SUITED]
    out[_FLUSH + 1] = stats[SUIT_LEFT] * (1 / 13)
    out[_FLUSH + 2] = stats[FLUSH_CHANCE]
    out[_STRAIGHT] = stats[STRAIGHT_OPEN]
    out[_STRAIGHT + 1] = stats[STRAIGHT_CHANCE]
    out[_AGAINST] = other[AT_LEAST] * UNIT
    out[_AGAINST + 1] = other[VALUE] * UNIT
    out[_AGAINST + 2] = other[FLUSH_CHANCE]
    out[_AGAINST + 3] = other[STRAIGHT_CHANCE]
    turn = state["turn"]
    if turn < NUM_TURNS and size < round_of(turn):
        out[_OPEN] = 1.0
        drawn = state["deck"][turn]
        if drawn >= 0 and turn & 1 == side:
            write_fit(out, np.int64(drawn), stats)


@kernel
def log_value_ratio(stats: ColumnStatistics, other: ColumnStatistics) -> float:
    """Log of the ratio of the values of two columns, divided by 4; at most about 2."""
    return math.log(stats[VALUE] / other[VALUE]) / 4


@kernel
def write_fit(out: Row, card: Int, stats: ColumnStatistics) -> None:
    """Write how well `card` fits a column."""
    mask = int(stats[MASK])
    bit = 1 << (card >> 2)
    # the block `ranks` holds halves
    out[_FIT] = out[_RANKS + (card >> 2)] * 2 / 3
    out[_FIT + 1] = suit_count(int(stats[KEY]), card & 3) == stats[SIZE]
    out[_FIT + 2] = stats[AT_LEAST] < _FIRST_PAIR and not mask & bit and fits_straight(mask | bit)
