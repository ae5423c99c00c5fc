"""Enumeration of legal actions. Only hands of the required size are enumerated, and only legal ones are written.

A hand is its cards in ascending order with `starts` [14]: rank r is at positions starts[r] to starts[r + 1] - 1.
`beat` is the strength to beat, -1 with control.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import (
    FIVE_TERMS,
    FOUR_BASES,
    PAIR_NUMBERS,
    PASS,
    SIZE_STARTS,
    STARTS_WITHOUT_FIRST,
    three_number,
)
from cardlab.games.big2.combinations import (
    FLUSH,
    FOUR,
    FULL_HOUSE,
    KIND_SIZES,
    PAIR,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE,
    TWO_PAIR,
    strength,
)
from cardlab.games.protocol import Bools

Hand = NDArray[np.int8]


@kernel
def find_ranks(hand: Hand, count: int, starts: NDArray[np.int8]) -> None:
    """Fill `starts` [14] for hand[0:count]."""
    position = 0
    for rank in range(13):
        starts[rank] = position
        while position < count and hand[position] >> 2 == rank:
            position += 1
    starts[13] = count


@kernel
def mark_legal(hand: Hand, count: int, kind: int, key: int, starts: NDArray[np.int8], legal: Bools) -> None:
    """Mark in `legal` [A], all False before, the legal actions of hand[0:count] on a hand of `kind` and `key`."""
    find_ranks(hand, count, starts)
    size = 0
    beat = -1
    if kind >= 0:
        size = int(KIND_SIZES[kind])
        beat = strength(kind, key)
        legal[PASS] = True
    if size in (0, 1):
        for position in range(count):
            legal[position] = hand[position] > beat
    if size in (0, 2):
        _mark_pairs(hand, starts, beat, legal)
    if size in (0, 3):
        _mark_threes(hand, starts, beat, legal)
    if size in (0, 4):
        _mark_fours(hand, starts, beat, legal)
    if size in (0, 5):
        _mark_straights(hand, starts, beat, legal)
        _mark_flushes(hand, count, beat, legal)
        _mark_full_houses(hand, starts, beat, legal)


@kernel
def require_first_position(legal: Bools) -> None:
    """Unmark in `legal` [A] all actions that do not play position 0."""
    for size in range(1, 6):
        for action in range(STARTS_WITHOUT_FIRST[size - 1], SIZE_STARTS[size + 1]):
            legal[action] = False


@kernel
def _mark_pairs(hand: Hand, starts: NDArray[np.int8], beat: int, legal: Bools) -> None:
    for rank in range(13):
        for j in range(starts[rank] + 1, starts[rank + 1]):
            if strength(PAIR, hand[j]) > beat:
                for i in range(starts[rank], j):
                    legal[PAIR_NUMBERS[i, j]] = True


@kernel
def _mark_threes(hand: Hand, starts: NDArray[np.int8], beat: int, legal: Bools) -> None:
    for rank in range(13):
        for k in range(starts[rank] + 2, starts[rank + 1]):
            if strength(THREE, hand[k]) > beat:
                for j in range(starts[rank] + 1, k):
                    for i in range(starts[rank], j):
                        legal[three_number(i, j, k)] = True


@kernel
def _mark_fours(hand: Hand, starts: NDArray[np.int8], beat: int, legal: Bools) -> None:
    """Mark two pairs (the higher pair last) and fours of a kind."""
    for rank in range(1, 13):
        for d in range(starts[rank] + 1, starts[rank + 1]):
            if strength(TWO_PAIR, hand[d]) > beat:
                for c in range(starts[rank], d):
                    _mark_lower_pairs(starts, rank, PAIR_NUMBERS[c, d], legal)
    for rank in range(13):
        a = int(starts[rank])
        if starts[rank + 1] - a == 4 and strength(FOUR, hand[a + 3]) > beat:
            legal[FOUR_BASES[a, a + 1] + PAIR_NUMBERS[a + 2, a + 3]] = True


@kernel
def _mark_lower_pairs(starts: NDArray[np.int8], rank: int, higher: int, legal: Bools) -> None:
    for lower in range(rank):
        for b in range(starts[lower] + 1, starts[lower + 1]):
            for a in range(starts[lower], b):
                legal[FOUR_BASES[a, b] + higher] = True


@kernel
def _mark_straights(hand: Hand, starts: NDArray[np.int8], beat: int, legal: Bools) -> None:
    """Mark straights by their highest card; `_mark_flushes` also marks straight flushes."""
    if beat >= strength(FLUSH, 0):
        return
    for top in range(4, 13):
        if (
            starts[top] == starts[top + 1]
            or starts[top - 1] == starts[top]
            or starts[top - 2] == starts[top - 1]
            or starts[top - 3] == starts[top - 2]
            or starts[top - 4] == starts[top - 3]
        ):
            continue
        for e in range(starts[top], starts[top + 1]):
            if strength(STRAIGHT, hand[e]) > beat:
                _mark_below(starts, top, FIVE_TERMS[4, e], legal)


@kernel
def _mark_below(starts: NDArray[np.int8], top: int, last: int, legal: Bools) -> None:
    """Mark all straights of a highest card, which adds `last` to the action's number."""
    for d in range(starts[top - 1], starts[top]):
        last_two = last + FIVE_TERMS[3, d]
        for c in range(starts[top - 2], starts[top - 1]):
            last_three = last_two + FIVE_TERMS[2, c]
            for b in range(starts[top - 3], starts[top - 2]):
                last_four = last_three + FIVE_TERMS[1, b]
                for a in range(starts[top - 4], starts[top - 3]):
                    legal[last_four + FIVE_TERMS[0, a]] = True


@kernel
def _mark_flushes(hand: Hand, count: int, beat: int, legal: Bools) -> None:
    """Mark flushes and straight flushes: five cards of a suit are straight if the last rank is the first plus four."""
    suited = np.empty(13, dtype=np.int8)
    for suit in range(4):
        num = 0
        for position in range(count):
            suited[num] = position
            num += hand[position] & 3 == suit
        for top in range(4, num):
            high = int(hand[suited[top]])
            for low in range(top - 3):
                straight = (high >> 2) - (hand[suited[low]] >> 2) == 4
                if strength(STRAIGHT_FLUSH if straight else FLUSH, high) > beat:
                    _mark_between(suited, low, top, legal)


@kernel
def _mark_between(suited: NDArray[np.int8], low: int, top: int, legal: Bools) -> None:
    """Mark all flushes of a lowest and a highest card."""
    outer = FIVE_TERMS[0, suited[low]] + FIVE_TERMS[4, suited[top]]
    for b in range(low + 1, top - 2):
        for c in range(b + 1, top - 1):
            two = outer + FIVE_TERMS[1, suited[b]] + FIVE_TERMS[2, suited[c]]
            for d in range(c + 1, top):
                legal[two + FIVE_TERMS[3, suited[d]]] = True


@kernel
def _mark_full_houses(hand: Hand, starts: NDArray[np.int8], beat: int, legal: Bools) -> None:
    for rank in range(13):
        for k in range(starts[rank] + 2, starts[rank + 1]):
            if strength(FULL_HOUSE, hand[k]) > beat:
                for j in range(starts[rank] + 1, k):
                    for i in range(starts[rank], j):
                        _mark_houses_of_three(starts, rank, i, j, k, legal)


@kernel
def _mark_houses_of_three(starts: NDArray[np.int8], rank: int, i: int, j: int, k: int, legal: Bools) -> None:
    """Mark the full houses of the three at positions i, j, k with each pair of another rank."""
    above = FIVE_TERMS[0, i] + FIVE_TERMS[1, j] + FIVE_TERMS[2, k]
    below = FIVE_TERMS[2, i] + FIVE_TERMS[3, j] + FIVE_TERMS[4, k]
    for other in range(13):
        if other == rank:
            continue
        for second in range(starts[other] + 1, starts[other + 1]):
            for first in range(starts[other], second):
                if other > rank:
                    legal[above + FIVE_TERMS[3, first] + FIVE_TERMS[4, second]] = True
                else:
                    legal[below + FIVE_TERMS[0, first] + FIVE_TERMS[1, second]] = True
