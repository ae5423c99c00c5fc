"""Royalties, the order of rows of three and of five cards, and bounds of the final rank of an incomplete row.

The *rank* of a row is one number for fronts and rows of five. A front has its code (games/cards/hands.py); a row of
five has the largest number that is below every stronger front. So two rows compare by their ranks.

The bounds follow from the ranks of the cards of a row. A node is a multiset of at most four ranks; adding a card leads
to another node. There are 2,380 nodes. The bounds ignore which cards are unseen, so they hold for every deck.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS
from cardlab.games.cards.hands import (
    CATEGORY_STARTS,
    FRONT_SHIFT,
    FRONT_SIZE,
    PAIR,
    RANK_BITS,
    STRENGTH_CATEGORIES,
    THREE,
    TWO_PAIR,
    Strengths,
    five_card_strength,
    front_code,
    front_codes,
    keys_of,
    ranked_hands,
    strength_table,
    strengths,
)

RANK_BOUNDS = np.dtype(
    [
        ("next", np.int16, (NUM_RANKS,)),  # the node with one more card of each rank; 0 if none
        ("low", np.int32),  # weakest row of five with these ranks, in several suits
        ("high", np.int32),  # strongest row of five with these ranks, in several suits
        ("suited", np.int32),  # strongest row of five in one suit; 0 if a rank repeats
        ("low_front", np.int32),  # weakest and strongest front with these ranks; 0 for four ranks
        ("high_front", np.int32),
    ],
    align=True,
)
EMPTY = 0  # the node of no ranks
MAX_NODE_SIZE = 4

RankBounds = NDArray[np.void]


@cache
def nodes() -> RankBounds:
    """[2380] records RANK_BOUNDS; index EMPTY has no ranks."""
    sets = [ranked_hands(size)[0] for size in range(6)]  # [n, size] the sets of each size
    starts = np.cumsum([0, *map(len, sets)])
    table = np.zeros(starts[-1], dtype=RANK_BOUNDS)
    _fill_complete_rows(table[starts[5] :], sets[5])
    for size in (4, 3, 2, 1, 0):
        following, exists = _following(sets[size], sets[size + 1])
        here, more = table[starts[size] : starts[size + 1]], table[starts[size + 1] + following]
        if size < MAX_NODE_SIZE:
            here["next"] = starts[size + 1] + following
        for name in ("low", "low_front"):
            here[name] = np.where(exists, more[name], np.iinfo(np.int32).max).min(axis=1)
        for name in ("high", "high_front", "suited"):
            here[name] = np.where(exists, more[name], 0).max(axis=1)
        if size == FRONT_SIZE:
            here["low_front"] = here["high_front"] = front_codes(NUM_SUITS * sets[size])
    return table[: starts[5]].copy()


def _fill_complete_rows(table: RankBounds, ranks: NDArray[np.int64]) -> None:
    """Set the bounds of five `ranks` [n, 5]: their one rank in several suits, and in one suit."""
    sums = keys_of(NUM_SUITS * ranks) & RANK_BITS
    table["low"] = table["high"] = strength_table()[5, sums].astype(np.int32) << FRONT_SHIFT | FIVE_BITS
    distinct = (np.diff(ranks, axis=1) > 0).all(axis=1)
    flushes = strengths(NUM_SUITS * ranks[distinct]).astype(np.int32)
    table["suited"][distinct] = flushes << FRONT_SHIFT | FIVE_BITS


def _following(sets: NDArray[np.int64], larger: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """[n, 13] index in `larger` of each set with one more rank, and whether that set exists."""
    added = np.broadcast_to(np.arange(NUM_RANKS)[:, None], (len(sets), NUM_RANKS, 1))
    ordered = np.sort(np.concatenate([np.repeat(sets[:, None], NUM_RANKS, axis=1), added], axis=2), axis=2)
    weights = NUM_RANKS ** np.arange(larger.shape[1] - 1, -1, -1)
    numbers, wanted = larger @ weights, ordered @ weights
    following = np.searchsorted(numbers, wanted).clip(max=len(larger) - 1)
    return following, numbers[following] == wanted


# by category, high card to royal flush (Tan and Xiao 2018, figure 1)
MIDDLE_ROYALTIES = np.array([0, 0, 0, 2, 4, 8, 12, 20, 30, 50], dtype=np.int64)
BACK_ROYALTIES = np.array([0, 0, 0, 0, 2, 4, 6, 10, 15, 25], dtype=np.int64)
MAX_PAYOFF = 98.0
"""6 for a foul (or three rows and the scoop), 75 for two royal flushes and 17 for a front of 999.

A front of tens or better leaves at most one royal flush, as two need two cards of each rank from ten to ace.
"""

FIVE_BITS = (1 << FRONT_SHIFT) - 1
_PAIR_START = CATEGORY_STARTS[PAIR]
_PAIR_SPAN = (CATEGORY_STARTS[TWO_PAIR] - _PAIR_START) // 13  # strengths of one pair with all kickers
_THREE_START = CATEGORY_STARTS[THREE]
_THREE_SPAN = (CATEGORY_STARTS[THREE + 1] - _THREE_START) // 13
_FIRST_PAID_PAIR = 4  # sixes


@kernel
def row_rank(strength_table: Strengths, front_table: NDArray[np.int32], key: int, row: int) -> int:
    """Rank of the complete row (0 front, 1 middle, 2 back) with this key."""
    if row == 0:
        return int(front_code(front_table, key))
    return int(five_card_strength(strength_table, key)) << FRONT_SHIFT | FIVE_BITS


@kernel
def royalty(rank: int, row: int) -> int:
    """Points of a row of this rank on a valid board."""
    strength = rank >> FRONT_SHIFT
    category = STRENGTH_CATEGORIES[strength]
    if row == 1:
        return int(MIDDLE_ROYALTIES[category])
    if row == 2:
        return int(BACK_ROYALTIES[category])
    if category == THREE:
        return 10 + (strength - _THREE_START) // _THREE_SPAN
    if category == PAIR:
        return max((strength - _PAIR_START) // _PAIR_SPAN - _FIRST_PAID_PAIR + 1, 0)
    return 0
