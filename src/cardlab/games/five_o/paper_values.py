"""Values of a hand of one to five cards as the program of the paper's authors computes them.

`eval` and `fast_eval` are about 1 to 7462, `pack_expect` is 0.4 to 9. `pack_expect` as the paper describes it, 1 to 17,
has a kind of its own. `unseen` [18] is as in hand_values.py.
"""

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS
from cardlab.games.cards.hands import (
    CATEGORY_STARTS,
    HIGH_CARD,
    MAX_STRENGTH,
    PAIR,
    STRAIGHT,
    Int,
    Strengths,
    guaranteed_strength,
    hand_category,
    highest_bit,
)
from cardlab.games.five_o.hand_values import (
    ALL_AT,
    NUM_WINDOWS,
    SUITS_AT,
    WINDOW_RANKS,
    WINDOWS,
    Counts,
    fits_straight,
    flush_chance,
    straight_chance,
    suit_of_flush,
)
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_TURNS, TURNS_PER_ROUND

EVAL, FAST_EVAL, PACK_EXPECT, PACK_DESCRIBED = range(4)  # `kind` of hand_value

PACK_SPAN, DESCRIBED_SPAN = 16, 17  # differences of pack_expect are divided by it

_ACE = NUM_RANKS - 1
_PAIR_START = CATEGORY_STARTS[PAIR]
_WHEEL, _ROYAL = WINDOWS[0], WINDOWS[-1]

# Worst and best class, of 1 (best) to 7462, that the program takes for a flush with each highest rank.
_FLUSHES = [(1599, 1596)] * 6 + [
    *((1595, 1582), (1581, 1547), (1546, 1478), (1477, 1354)),
    *((1353, 1145), (1144, 816), (815, 323)),
]
FLUSH_VALUES = np.array([MAX_STRENGTH + 1 - (worst + best) // 2 for worst, best in _FLUSHES], dtype=np.float64)
"""[13] value of a flush by the highest rank of the hand."""
STRAIGHT_VALUES = CATEGORY_STARTS[STRAIGHT] + np.maximum(np.arange(NUM_RANKS), 3.0) - 3.0
"""[13] value of a straight by the highest rank of the hand."""

# The paper describes pack_expect without these constants.
_MADE = np.array([0.0, 2.0, 4.0, 6.0, 8.0, 9.0, 10.0, 12.0, 13.0, 13.0])  # by category
_HIGHEST = 3.0  # for an ace, in proportion for other ranks
_ONE_SUIT = np.array([0.0, 0.0, 1.0, 3.0, 6.0])  # by the number of cards
_ONE_STRAIGHT = np.array([0.0, 0.0, 1.5, 5.0, 7.0])  # by the number of cards


@kernel
def draws_after(turn: Int) -> int:
    """N of equations (1) and (2) after `turn` placements: cards that a player draws once the round is complete."""
    return (NUM_TURNS - (turn + TURNS_PER_ROUND - 1) // TURNS_PER_ROUND * TURNS_PER_ROUND) // 2


@kernel
def current_value(guaranteed: Int, mask: Int, size: Int) -> Int:
    """The program's current value of a hand: its `guaranteed` strength, with one error.

    An ace with three of 2 to 5 counts as 5-4-3-2-A: the program adds the lowest rank, and sees no straight.
    """
    if size == COLUMN_SIZE - 1 and guaranteed < _PAIR_START and mask >> _ACE and not mask & ~_WHEEL:
        return np.int64(CATEGORY_STARTS[STRAIGHT])
    return guaranteed


@kernel
def mix(current: Int, mask: Int, size: Int, flush: float, straight: float) -> float:
    """(1 - p - q) current + (p flush + q straight) size / 5; p and q are the chances `flush` and `straight`."""
    highest = highest_bit(mask)
    future = flush * FLUSH_VALUES[highest] + straight * STRAIGHT_VALUES[highest]
    return (1.0 - flush - straight) * current + future * size / COLUMN_SIZE


@kernel
def lowest_window(mask: Int) -> int:
    """Index of the first straight that the program tries: an ace is high."""
    return NUM_WINDOWS - 1 if mask >> _ACE else 0


@kernel
def eval_hand(table: Strengths, key: Int, mask: Int, size: Int, unseen: Counts, draws: Int) -> float:
    """The program's `eval`: the current value, mixed with flush and straight by equations (1) and (2)."""
    guaranteed = guaranteed_strength(table, key, size)
    if size == COLUMN_SIZE or guaranteed >= _PAIR_START:
        return float(guaranteed)
    flush = flush_chance(key, size, unseen, draws)
    straight, _ = straight_chance(mask, size, unseen, draws, lowest_window(mask))
    return mix(current_value(guaranteed, mask, size), mask, size, flush, straight)


@kernel
def fast_eval_hand(table: Strengths, key: Int, mask: Int, size: Int, unseen: Counts) -> float:
    """The program's `fast_eval`: `eval` with shares of unseen cards as chances; pairs may become straights."""
    guaranteed = guaranteed_strength(table, key, size)
    if size == COLUMN_SIZE:
        return float(guaranteed)
    suit = suit_of_flush(key, size)
    flush = unseen[SUITS_AT + suit] / unseen[ALL_AT] if suit >= 0 else 0.0
    straight = 0.0
    for window in range(lowest_window(mask), NUM_WINDOWS):
        if mask & ~WINDOWS[window]:
            continue
        share = 1.0
        for card in range(COLUMN_SIZE):
            rank = WINDOW_RANKS[window, card]
            if not mask >> rank & 1:
                share *= unseen[rank] / unseen[ALL_AT]
        straight += share
    return mix(current_value(guaranteed, mask, size), mask, size, flush, straight)


@kernel
def pack_expect_hand(key: Int, mask: Int, size: Int) -> float:
    """The program's `pack_expect`: one suit, ranks close together, highest rank, royal flush. Pairs add nothing."""
    highest = highest_bit(mask)
    points = highest / _ACE
    suited = suit_of_flush(key, size) >= 0
    if suited:
        points += 2.0 * size / COLUMN_SIZE
    if not mask & ((1 << max(highest - 4, 0)) - 1):
        points += 2.0 * size / COLUMN_SIZE
    if suited and mask == _ROYAL:
        points += 4.0
    return points


@kernel
def described_pack_expect(table: Strengths, key: Int, mask: Int, size: Int) -> float:
    """`pack_expect` as described, 1 to 17: made hand, high card, one suit, ranks close together."""
    category = hand_category(table, key, size)
    points = 1.0 + _MADE[category] + _HIGHEST * highest_bit(mask) / _ACE
    if category == HIGH_CARD and 1 < size < COLUMN_SIZE:
        if suit_of_flush(key, size) >= 0:
            points += _ONE_SUIT[size]
        if fits_straight(mask):
            points += _ONE_STRAIGHT[size]
    return points


@kernel
def hand_value(kind: int, table: Strengths, key: Int, mask: Int, size: Int, unseen: Counts, draws: Int) -> float:
    """Value of a hand by `kind`; EVAL and FAST_EVAL use `unseen`, only EVAL uses `draws`."""
    if kind == EVAL:
        return eval_hand(table, key, mask, size, unseen, draws)
    if kind == FAST_EVAL:
        return fast_eval_hand(table, key, mask, size, unseen)
    if kind == PACK_EXPECT:
        return pack_expect_hand(key, mask, size)
    return described_pack_expect(table, key, mask, size)
