"""Counts of unseen and drawable cards, distances between players, and suit sums, from an InfoState."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS
from cardlab.games.thirty_one.hand_scores import HAND_SIZE, card_bit, card_value, suit_of
from cardlab.games.thirty_one.hidden_cards import ALL_CARDS, known_cards
from cardlab.games.thirty_one.record import MAX_PLAYERS, Record

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
