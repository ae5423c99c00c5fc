"""Counts of unseen and drawable cards, distances between players, and the order of suits, from an InfoState.

Suits are interchangeable: with a fixed order a network would have to learn each pattern once per suit. So features
order them by the owner's hand.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS
from cardlab.games.protocol import Block, Floats
from cardlab.games.thirty_one.hidden_cards import ALL_CARDS, known_cards
from cardlab.games.thirty_one.record import HAND_SIZE, MAX_PLAYERS, Record, card_bit, card_value, suit_of


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


LOW_VALUE = 2
NUM_VALUES = 10  # card values 2 to 11

Counts = NDArray[np.int64]
"""[4, 10] number of cards of each suit and value."""


@kernel
def seats_by_distance(state: Record, owner: int, seats: NDArray[np.int64]) -> int:
    """Fill `seats` [9] with `owner` and the other living players in order of play; return their number."""
    seats[0] = owner
    count = 1
    for step in range(1, MAX_PLAYERS):
        player = (owner + step) % MAX_PLAYERS
        if state["lives"][player] > 0:
            seats[count] = player
            count += 1
    return count


@kernel
def distance_to(seats: NDArray[np.int64], count: int, player: int) -> int:
    """Index of `player` in seats[0:count]; -1 if absent."""
    for i in range(count):
        if seats[i] == player:
            return i
    return -1


@kernel
def count_cards(cards: int, counts: Counts) -> int:
    """Fill `counts` for the set `cards`; return its size."""
    counts[:, :] = 0
    total = 0
    for card in range(NUM_CARDS):
        if cards & card_bit(card):
            counts[suit_of(card), card_value(card) - LOW_VALUE] += 1
            total += 1
    return total


@kernel
def unseen_cards(state: Record) -> int:
    """The set of cards that the owner of an InfoState cannot locate."""
    return ALL_CARDS & ~known_cards(state)


@kernel
def drawable_cards(state: Record) -> int:
    """The set of unseen cards that may be in the stock; after a reshuffle only cards that formed it."""
    unseen = unseen_cards(state)
    return unseen & state["restocked"] if state["restocked"] != 0 else unseen


@kernel
def add_suit_sums(hand: NDArray[np.int8], without: int, sums: NDArray[np.float32], scale: float) -> None:
    """Add the sums of card values per suit, times `scale`, to `sums` [4], leaving out the card at `without`."""
    for i in range(HAND_SIZE):
        if i != without and hand[i] >= 0:
            sums[suit_of(hand[i])] += scale * card_value(hand[i])


@kernel
def kept_suit_sum(hand: NDArray[np.int8], suit: int) -> int:
    """Sum of the cards of `suit` beside a new one of that suit: all of them, or the best two of three."""
    total, lowest, count = 0, 11, 0
    for i in range(HAND_SIZE):
        if hand[i] >= 0 and suit_of(hand[i]) == suit:
            value = card_value(hand[i])
            total += value
            lowest = min(lowest, value)
            count += 1
    return total - lowest if count == HAND_SIZE else total


@kernel
def score_ceiling(hand: NDArray[np.int8], unseen: Counts) -> int:
    """The highest possible score of a hand whose UNKNOWN cards are among the `unseen`."""
    ceiling = 0
    for suit in range(4):
        total, hidden = 0, 0
        for i in range(HAND_SIZE):
            if hand[i] < 0:
                hidden += 1
            elif suit_of(hand[i]) == suit:
                total += card_value(hand[i])
        for value in range(NUM_VALUES - 1, -1, -1):
            used = min(unseen[suit, value], hidden)
            total += used * (value + LOW_VALUE)
            hidden -= used
        ceiling = max(ceiling, total)
    return ceiling
