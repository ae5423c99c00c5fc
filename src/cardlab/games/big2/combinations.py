"""Big 2's order of cards, and the kind and deciding card of a hand.

In this folder a card is its place in that order: 4·rank + suit with ranks 3 … A, 2 = 0 … 12 and suits diamonds,
clubs, hearts, spades = 0 … 3, so that 3♦ = 0 is the lowest and 2♠ = 51 the highest. Only decks, weights, holders and
texts use the numbers of `cards.deck`.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, NUM_RANKS, NUM_SUITS, parse_card

RANKS = "3456789TJQKA2"
SUITS = "dchs"

DECK_CARD = np.array([parse_card(rank + suit) for rank in RANKS for suit in SUITS], dtype=np.int8)
"""[52] the deck's number of each card of this order."""

STRENGTH_ORDER = np.argsort(DECK_CARD).astype(np.int8)
"""[52] the place in this order of each card of the deck."""

LOWEST_CARD = 0  # the 3 of diamonds

DIAMONDS = sum(1 << 4 * rank for rank in range(NUM_RANKS))
"""All diamonds as bits: the lowest bit of each rank. Shifted by a suit's number, that suit."""

NO_KIND = -1  # no hand to beat: the player to move has control
SINGLE, PAIR, THREE, TWO_PAIR, FOUR, STRAIGHT, FLUSH, FULL_HOUSE, STRAIGHT_FLUSH = range(9)
KINDS = ("single", "pair", "three", "two pair", "four", "straight", "flush", "full house", "straight flush")
"""Names of the kinds; among kinds of one size, a later kind beats an earlier one."""

KIND_SIZES = np.array([1, 2, 3, 4, 4, 5, 5, 5, 5], dtype=np.int8)
"""[9] number of cards of each kind."""

assert NUM_CARDS == NUM_RANKS * NUM_SUITS == len(RANKS) * len(SUITS)


@kernel
def strength(kind: int, key: int) -> int:
    """Strength of a hand, comparable among hands of one size: by kind, then by the deciding card."""
    return 52 * int(kind) + int(key)


@kernel
def classify(cards: NDArray[np.int8], size: int) -> tuple[int, int]:
    """Kind and deciding card of the legal hand cards[0:size], in ascending order."""
    last = int(cards[size - 1])
    if size < 4:
        return size - 1, last
    if size == 4:
        return (FOUR if cards[0] >> 2 == last >> 2 else TWO_PAIR), last
    low, second, middle, fourth, high = cards[0] >> 2, cards[1] >> 2, cards[2] >> 2, cards[3] >> 2, last >> 2
    if low == second and fourth == high:
        return FULL_HOUSE, int(cards[2]) if low == middle else last
    straight = second == low + 1 and middle == low + 2 and fourth == low + 3 and high == low + 4
    suit = last & 3
    if cards[0] & 3 == suit and cards[1] & 3 == suit and cards[2] & 3 == suit and cards[3] & 3 == suit:
        return (STRAIGHT_FLUSH if straight else FLUSH), last
    return STRAIGHT, last
