"""Royalties, and the order of rows of three and of five cards.

The *rank* of a row is one number for fronts and rows of five. A front has its code (games/cards/hands.py); a row of
five has the largest number that is below every stronger front. So two rows compare by their ranks.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.hands import (
    CATEGORY_STARTS,
    FRONT_SHIFT,
    PAIR,
    STRENGTH_CATEGORIES,
    THREE,
    TWO_PAIR,
    Strengths,
    five_card_strength,
    front_code,
)

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
