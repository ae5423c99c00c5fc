"""Sets as integers, one bit per element."""

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.cards.hands import Int


@kernel
def count_bits(bits: Int) -> int:
    """Number of elements of a set of at most 64 (Warren 2012, figure 5-2)."""
    word = np.uint64(bits)
    word -= word >> np.uint64(1) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (word >> np.uint64(2) & np.uint64(0x3333333333333333))
    word = word + (word >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int(np.int64(word * np.uint64(0x0101010101010101) >> np.uint64(56)))


@kernel
def lowest_bit(bits: Int) -> int:
    """The lowest element of a non-empty set."""
    return count_bits((bits & -bits) - 1)


@kernel
def highest_bit(bits: Int) -> int:
    """The highest element of a non-empty set."""
    for shift in (1, 2, 4, 8, 16, 32):
        bits |= bits >> shift
    return count_bits(bits) - 1
