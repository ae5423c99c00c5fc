"""Strength of poker hands of five cards, and of the rows and fronts of three that compete with them.

A hand is one int32 *key*, the sum of the CARD_KEYS of its cards: `key += CARD_KEYS[card]` adds a card. Bits 0 to 18
sum a number per rank. No two hands of one size (at most five cards, at most four of a rank) have the same sum.
Above them are four counters of three bits, one per suit.

Strengths are 1 to 7,462: higher is stronger, and equal hands have equal numbers (Cactus Kev's classes, reversed).
Every kernel takes the table `strength_table()` as an argument: numba would neither cache a kernel with a global of
this size on disk, nor share the global between kernels. The table is built in milliseconds on first use.

A *front* of three cards has a code. It compares with five cards by category, then by its own ranks: `AAK` equals
`AAK52`. So `code >> FRONT_SHIFT` is the least five-card strength that is not below the front, and
five ≥ front is `strength >= code >> FRONT_SHIFT`; two fronts compare by their whole codes.
"""

from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, NUM_RANKS, NUM_SUITS

CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
    "royal flush",
)
HIGH_CARD, PAIR, TWO_PAIR, THREE, STRAIGHT, FLUSH, FULL_HOUSE, FOUR, STRAIGHT_FLUSH, ROYAL_FLUSH = range(10)

CATEGORY_STARTS = (1, 1278, 4138, 4996, 5854, 5864, 7141, 7297, 7453, 7462)
"""The least strength of each category."""

MAX_STRENGTH = 7462

STRAIGHT_MASKS = np.array([0x100F, *(0b11111 << low for low in range(NUM_RANKS - 4))], dtype=np.int64)
"""[10] masks of the ranks of each straight, A to 5 first; bit r is rank r."""

Int = int | np.integer[Any]
Keys = NDArray[np.int32]
Strengths = NDArray[np.uint16]

# Each number is the least that keeps all sums of five cards distinct, given the numbers before it.
_RANK_KEYS = np.array([0, 1, 5, 22, 94, 312, 992, 2422, 5624, 12522, 19998, 43258, 79415])
_SUIT_SHIFT = 19
RANK_BITS = (1 << _SUIT_SHIFT) - 1  # of a key
_NUM_SUMS = 4 * 79415 + 43258 + 1
_FLUSH_BITS = 0o1111  # the lowest bit of each suit's counter

_STRAIGHT_START = CATEGORY_STARTS[STRAIGHT]
_FLUSH_GAIN = CATEGORY_STARTS[FLUSH] - CATEGORY_STARTS[HIGH_CARD]
_STRAIGHT_FLUSH_GAIN = CATEGORY_STARTS[STRAIGHT_FLUSH] - _STRAIGHT_START
_NUM_FLUSHES = 1277

FRONT_SIZE = 3
FRONT_SHIFT = 4  # at most 16 fronts share their least five-card strength
_NUM_FRONT_SUMS = 3 * 79415 + 43258 + 1

CARD_KEYS: Keys = np.array(
    [_RANK_KEYS[card // NUM_SUITS] + (1 << (_SUIT_SHIFT + 3 * (card % NUM_SUITS))) for card in range(NUM_CARDS)],
    dtype=np.int32,
)
"""[52] what each card adds to the key of the row that it joins."""

STRENGTH_CATEGORIES = np.repeat(
    np.arange(len(CATEGORIES)), np.diff([0, *CATEGORY_STARTS[1:], MAX_STRENGTH + 1])
).astype(np.int8)
"""[7463] the category of each strength, HIGH_CARD to ROYAL_FLUSH (0, which is no strength, counts as high card)."""


@kernel
def hand_size(key: Int) -> Int:
    """How many cards a key was summed from, 0 to 5."""
    suits = key >> _SUIT_SHIFT
    return (suits & 7) + (suits >> 3 & 7) + (suits >> 6 & 7) + (suits >> 9)


@kernel
def suit_count(key: Int, suit: Int) -> Int:
    """How many cards of `suit` are in the hand."""
    return key >> (_SUIT_SHIFT + 3 * suit) & 7


@kernel
def five_card_strength(table: Strengths, key: Int) -> Int:
    """Strength, 1 to 7462, of the five cards summed in `key`; `table` is strength_table()."""
    strength = np.int64(table[5, key & RANK_BITS])
    suits = key >> _SUIT_SHIFT
    # a counter of up to five has bits 0 and 2 set only when it is five
    if suits & (suits >> 2) & _FLUSH_BITS:
        strength += _FLUSH_GAIN if strength < _STRAIGHT_START else _STRAIGHT_FLUSH_GAIN
    return strength


@kernel
def guaranteed_strength(table: Strengths, key: Int, size: Int) -> Int:
    """Least strength, 1 to 7462, of all five-card hands that contain these `size` cards.

    The *current value* of `eval` in the Five-O paper (section II.A). Its category is that of the partial hand: two to
    four cards with a pair are a PAIR. For five cards it is their strength.
    """
    if size == 5:
        return five_card_strength(table, key)
    return np.int64(table[size, key & RANK_BITS])


@kernel
def hand_category(table: Strengths, key: Int, size: Int) -> Int:
    """HIGH_CARD to ROYAL_FLUSH, 0 to 9, of `size` cards; fewer than five make no straight and no flush."""
    return np.int64(STRENGTH_CATEGORIES[guaranteed_strength(table, key, size)])


@kernel
def front_code(table: NDArray[np.int32], key: Int) -> Int:
    """Code (see the module docstring) of the three cards summed in `key`; `table` is front_table()."""
    return np.int64(table[key & RANK_BITS])


@kernel
def _strengths_of_keys(table: Strengths, keys: Keys) -> Strengths:
    out = np.empty(keys.size, dtype=np.uint16)
    for n in range(keys.size):
        out[n] = five_card_strength(table, keys[n])
    return out


@kernel
def _strengths_of_cards(table: Strengths, cards: NDArray[np.uint8]) -> Strengths:
    # unsigned, so that no index is tested for being negative
    out = np.empty(cards.shape[0], dtype=np.uint16)
    for n in range(cards.shape[0]):
        key: Any = CARD_KEYS[cards[n, 0]] + CARD_KEYS[cards[n, 1]] + CARD_KEYS[cards[n, 2]]
        key += CARD_KEYS[cards[n, 3]] + CARD_KEYS[cards[n, 4]]
        out[n] = five_card_strength(table, key)
    return out


def keys_of(cards: NDArray[np.integer]) -> Keys:
    """[...] keys of the hands in the last axis of `cards` [..., n], which must all be known."""
    return CARD_KEYS[cards].sum(axis=-1, dtype=np.int32)


def strengths_of_keys(keys: Keys) -> Strengths:
    """[N] strengths of the five-card hands with these keys [N]."""
    return _strengths_of_keys(strength_table(), keys)


def strengths(cards: NDArray[np.integer]) -> Strengths:
    """[N] strengths, 1 to 7462, of the five-card hands `cards` [N, 5]; ValueError for another shape or no cards."""
    hands = np.asarray(cards)
    if hands.ndim != 2 or hands.shape[1] != 5:
        raise ValueError("cards: must be [hands, 5]")
    narrow = hands.astype(np.int8, copy=False)
    octets = narrow.view(np.uint8)  # a negative number becomes one above 127
    if octets.size and (int(octets.max()) >= NUM_CARDS or (narrow is not hands and (narrow != hands).any())):
        raise ValueError("cards: must be numbers of cards, 0 to 51")
    return _strengths_of_cards(strength_table(), octets)


def front_codes(cards: NDArray[np.integer]) -> NDArray[np.int32]:
    """[N] codes of the fronts `cards` [N, 3]; ValueError for another shape."""
    fronts = np.asarray(cards)
    if fronts.ndim != 2 or fronts.shape[1] != FRONT_SIZE:
        raise ValueError("cards: must be [fronts, 3]")
    return front_table()[keys_of(fronts) & RANK_BITS]


@cache
def strength_table() -> Strengths:
    """[6, sums of ranks] guaranteed strength by size and sum, no flushes; read-only, 0 where no hand has the sum."""
    table = np.zeros((6, _NUM_SUMS), dtype=np.uint16)
    ranks, scores = ranked_hands(5)
    strengths_now = np.unique(scores, return_inverse=True)[1] + 1
    strengths_now += np.where(strengths_now >= CATEGORY_STARTS[FLUSH], _NUM_FLUSHES, 0)
    table[5, _RANK_KEYS[ranks].sum(axis=1)] = strengths_now
    for size in (4, 3, 2, 1, 0):
        ranks, _ = ranked_hands(size)
        sums = _RANK_KEYS[ranks].sum(axis=1)
        # no rank has a fifth card; its sum could be that of another hand
        room = (ranks[:, :, None] == np.arange(NUM_RANKS)).sum(axis=1) < NUM_SUITS
        fuller = table[size + 1][np.where(room, sums[:, None] + _RANK_KEYS, 0)]
        table[size, sums] = np.where(room, fuller, MAX_STRENGTH).min(axis=1)
    table.setflags(write=False)
    return table


@cache
def front_table() -> NDArray[np.int32]:
    """[sums of ranks] code of each front by the sum of its ranks; read-only, 0 where no front has the sum."""
    ranks, scores = ranked_hands(FRONT_SIZE)
    order = np.argsort(scores)
    floors = np.searchsorted(np.sort(ranked_hands(5)[1]), scores[order]) + 1
    _, firsts, groups = np.unique(floors, return_index=True, return_inverse=True)
    table = np.zeros(_NUM_FRONT_SUMS, dtype=np.int32)
    table[_RANK_KEYS[ranks[order]].sum(axis=1)] = (floors << FRONT_SHIFT) + np.arange(len(order)) - firsts[groups]
    table.setflags(write=False)
    return table


def ranked_hands(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All multisets of `size` ranks, [M, size], and [M] scores in their order: category, then ranks, digits base 13.

    The digits of fewer than five cards end in zeros: no five cards with the same first ranks score less.
    """
    hands = np.array(list(combinations_with_replacement(range(NUM_RANKS), size)), dtype=np.int64)
    counts = (hands[:, :, None] == np.arange(NUM_RANKS)).sum(axis=1)
    hands, counts = hands[counts.max(axis=1) <= NUM_SUITS], counts[counts.max(axis=1) <= NUM_SUITS]
    by_count = np.argsort(-(counts * NUM_RANKS + np.arange(NUM_RANKS)), axis=1)
    often = np.take_along_axis(counts, by_count, axis=1)
    category = np.select(
        [
            often[:, 0] == 4,
            (often[:, 0] == 3) & (often[:, 1] == 2),
            often[:, 0] == 3,
            often[:, 1] == 2,
            often[:, 0] == 2,
        ],
        [FOUR, FULL_HOUSE, THREE, TWO_PAIR, PAIR],
        HIGH_CARD,
    )
    digits = np.where(often[:, :5] > 0, by_count[:, :5], 0)
    if size == 5:
        wheel = (hands == (0, 1, 2, 3, NUM_RANKS - 1)).all(axis=1)
        straight = (often[:, 0] == 1) & (hands[:, 4] - hands[:, 0] == 4) | wheel
        category[straight] = STRAIGHT
        digits[wheel] = (3, 2, 1, 0, 0)
    return hands, (category[:, None] * NUM_RANKS**5 + digits * NUM_RANKS ** np.arange(4, -1, -1)).sum(axis=1)


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
