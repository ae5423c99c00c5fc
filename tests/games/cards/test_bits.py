"""Sets as bits."""

import numpy as np

from cardlab.games.cards.hands import count_bits, highest_bit, lowest_bit


def test_bits() -> None:
    for element in range(62):
        assert lowest_bit(1 << element | 1 << 61) == element
        assert highest_bit(1 << element | 1) == element
        assert count_bits((1 << element + 1) - 1) == element + 1
    assert count_bits(np.uint64(2**64 - 1)) == 64
    assert count_bits(0) == 0
