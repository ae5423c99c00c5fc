"""The 1,695 actions: sets of positions of the sorted hand, by size, then in lexicographic order; and kinds of hands.

The numbering is that of the paper (its posts "Big 2 Action Space"), plus ten triples that it omits.

In this folder a card is its place in Big 2's order: 4·rank + suit with ranks 3 … A, 2 = 0 … 12 and suits diamonds,
clubs, hearts, spades = 0 … 3, so that 3♦ = 0 is the lowest and 2♠ = 51 the highest. Only decks, weights, holders and
texts use the numbers of `cards.deck`.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

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


HAND_SIZE = 13
MAX_PLAY = 5


def _all_positions() -> Iterator[tuple[int, ...]]:
    """Positions of every action except the pass, in order of action number."""
    for size in range(1, MAX_PLAY + 1):
        for positions in combinations(range(HAND_SIZE), size):
            if _may_form_hand(positions):
                yield positions


def _may_form_hand(positions: tuple[int, ...]) -> bool:
    """Whether these positions can hold a legal hand: equal ranks lie within four positions of a sorted hand."""
    if len(positions) in (2, 3):
        return positions[-1] - positions[0] <= 3
    if len(positions) == 4:
        return positions[1] - positions[0] <= 3 and positions[3] - positions[2] <= 3
    return True


_POSITIONS = tuple(_all_positions())
_NUMBERS = {positions: number for number, positions in enumerate(_POSITIONS)}

PASS = len(_POSITIONS)
NUM_ACTIONS = PASS + 1

ACTION_SIZES = np.array([*map(len, _POSITIONS), 0], dtype=np.int8)
"""[A] number of cards each action plays; 0 for the pass."""

SIZE_STARTS = np.searchsorted(ACTION_SIZES[:PASS], np.arange(MAX_PLAY + 2)).astype(np.int16)
"""[7] first action that plays this many cards; the actions of size n are SIZE_STARTS[n] to SIZE_STARTS[n + 1]."""

ACTION_POSITIONS = np.full((NUM_ACTIONS, MAX_PLAY), -1, dtype=np.int8)
"""[A, 5] positions each action plays, ascending, padded with -1."""
for _number, _positions in enumerate(_POSITIONS):
    ACTION_POSITIONS[_number, : len(_positions)] = _positions

NUMBER_OF_BITS = np.full(1 << HAND_SIZE, -1, dtype=np.int16)
"""[8192] the action that plays the positions of these bits, the pass for none; -1 where there is none."""
for _number, _positions in enumerate((*_POSITIONS, ())):
    NUMBER_OF_BITS[sum(1 << _position for _position in _positions)] = _number

PAIR_NUMBERS = np.zeros((HAND_SIZE, HAND_SIZE), dtype=np.int16)
"""[13, 13] the action that plays a pair of positions."""
for _i, _j in combinations(range(HAND_SIZE), 2):
    PAIR_NUMBERS[_i, _j] = _NUMBERS.get((_i, _j), 0)

FOUR_BASES = np.zeros((HAND_SIZE, HAND_SIZE), dtype=np.int16)
"""[13, 13] what the first two of four positions add: four (a, b, c, d) = FOUR_BASES[a, b] + PAIR_NUMBERS[c, d]."""
for _a, _b in combinations(range(HAND_SIZE - 2), 2):
    if _b - _a <= 3:
        FOUR_BASES[_a, _b] = _NUMBERS[_a, _b, _b + 1, _b + 2] - _NUMBERS[_b + 1, _b + 2]

FIVE_TERMS = np.zeros((MAX_PLAY, HAND_SIZE), dtype=np.int16)
"""[5, 13] what the i-th of five positions adds to an action's number (the combinatorial number system)."""
for _place in range(MAX_PLAY):
    for _position in range(HAND_SIZE):
        _behind = len(tuple(combinations(range(_position + 1, HAND_SIZE), MAX_PLAY - _place)))
        FIVE_TERMS[_place, _position] = (PASS - 1 if _place == 0 else 0) - _behind


def action_number(positions: Sequence[int]) -> int:
    """The action that plays these ascending positions; PASS for none; KeyError if there is no such action."""
    return _NUMBERS[tuple(positions)] if positions else PASS


@kernel
def three_number(first: int, middle: int, last: int) -> int:
    """The action of three positions: per `first`, those at distances (1, 2), (1, 3), (2, 3) follow in this order."""
    return 46 + 3 * first + (middle - first if last - first == 3 else 0)
