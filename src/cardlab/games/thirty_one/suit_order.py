"""The order of suits in features, by the owner's hand.

Suits are interchangeable: with a fixed order a network would have to learn each pattern once per suit.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Block, Floats
from cardlab.games.thirty_one.hand_scores import HAND_SIZE, card_value, suit_of
from cardlab.games.thirty_one.record import Record


def suit_columns(blocks: tuple[Block, ...], exclude: tuple[str, ...] = ()) -> NDArray[np.int64]:
    """First columns of all groups of four suits: in blocks whose last axis is 4, except the names in `exclude`."""
    starts: list[int] = []
    for block in blocks:
        if block.shape[-1] == 4 and block.name not in exclude:
            starts.extend(range(block.start, block.stop, 4))
    return np.array(starts, dtype=np.int64)


@kernel
def rank_suits(state: Record, owner: int, order: NDArray[np.int64]) -> None:
    """Fill `order` [4] with the suits by their sum in the hand of `owner`, then in the pending or top card."""
    offer = state["drawn"] if state["drawn"] >= 0 else state["top"]
    for suit in range(4):
        key = _suit_key(state["hands"][owner], offer, suit)
        place = suit
        while place > 0 and _suit_key(state["hands"][owner], offer, order[place - 1]) < key:
            order[place] = order[place - 1]
            place -= 1
        order[place] = suit


@kernel
def _suit_key(hand: NDArray[np.int8], offer: int, suit: int) -> int:
    key = card_value(offer) if suit_of(offer) == suit else 0
    for i in range(HAND_SIZE):
        if suit_of(hand[i]) == suit:
            key += 16 * card_value(hand[i])
    return key


@kernel
def reorder_suits(row: Floats, starts: NDArray[np.int64], order: NDArray[np.int64]) -> None:
    """Permute the four columns of `row` from each of `starts`, one per suit, into `order` [4]."""
    for start in starts:
        columns = (row[start], row[start + 1], row[start + 2], row[start + 3])
        for place in range(4):
            row[start + place] = columns[order[place]]
