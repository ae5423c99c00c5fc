"""Values of cards, scores of hands, and the order of the cards in a hand."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel

HAND_SIZE = 3
BEST_SCORE = 31


@kernel
def card_value(card: int) -> int:
    """Ace 11, court cards 10, others their rank; 0 for UNKNOWN."""
    if card < 0:
        return 0
    rank = int(card) >> 2  # not in int8, which would overflow in sums of columns
    if rank == 12:
        return 11
    return min(rank + 2, 10)


@kernel
def suit_of(card: int) -> int:
    """The suit, 0 to 3; 3 for UNKNOWN, whose value is 0."""
    return int(card) & 3


@kernel
def suit_order(card: int) -> int:
    """Sort key: by suit, then by rank; UNKNOWN first."""
    return -1 if card < 0 else suit_of(card) * 13 + (card >> 2)


@kernel
def card_bit(card: int) -> np.int64:
    """The bit of `card` in a set of cards; 0 for UNKNOWN."""
    return np.int64(0) if card < 0 else np.int64(1) << np.int64(card)


@kernel
def hand_score(first: int, second: int, third: int) -> int:
    """The highest sum of card values within one suit; UNKNOWN cards count 0."""
    one, two, three = card_value(first), card_value(second), card_value(third)
    suit = suit_of(first)
    with_first = one + (two if suit_of(second) == suit else 0) + (three if suit_of(third) == suit else 0)
    with_second = two + (three if suit_of(third) == suit_of(second) else 0)
    return max(with_first, with_second, three)


@kernel
def score_after_swap(hand: NDArray[np.int8], position: int, card: int) -> int:
    """Score of `hand` [3] after `card` replaces the one at `position`; position 3 replaces none."""
    first = card if position == 0 else hand[0]
    second = card if position == 1 else hand[1]
    third = card if position == 2 else hand[2]
    return hand_score(first, second, third)


@kernel
def sort_hand(hand: NDArray[np.int8]) -> None:
    """Sort `hand` [3] in place by suit and rank, so that equal hands have equal bytes."""
    for last in (1, 2, 1):
        if suit_order(hand[last - 1]) > suit_order(hand[last]):
            swapped = hand[last]
            hand[last] = hand[last - 1]
            hand[last - 1] = swapped
