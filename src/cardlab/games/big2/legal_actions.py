"""Enumeration of legal actions: only plays of the required size, in ascending order.

A hand is a set of cards, one bit per card of Big 2's order; sets of ranks are the lowest bits of their ranks. Rank r is
at positions starts[r] to starts[r + 1] - 1 of the sorted hand, `starts` [14]. The deciding card of a play that beats
the hand to beat is at position `least` or above. Functions that list write to `actions` from `num` on and return the
end of the list; there must be room for all actions.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import (
    ACTION_POSITIONS,
    DIAMONDS,
    FIVE_TERMS,
    FLUSH,
    FOUR,
    FOUR_BASES,
    FULL_HOUSE,
    HAND_SIZE,
    KIND_SIZES,
    NUM_ACTIONS,
    PAIR_NUMBERS,
    PASS,
    STRAIGHT,
    STRAIGHT_FLUSH,
    TWO_PAIR,
    three_number,
)
from cardlab.games.cards.hands import count_bits, lowest_bit
from cardlab.games.protocol import Actions, Bools

Starts = NDArray[np.int8]


@kernel
def find_ranks(hand: int, starts: Starts) -> int:
    """Fill `starts` [14]; return the number of cards of each rank, four bits each."""
    by_rank = hand - (hand >> 1 & 0x5555555555555)
    by_rank = (by_rank & 0x3333333333333) + (by_rank >> 2 & 0x3333333333333)
    ends = by_rank * DIAMONDS  # sums of the ranks so far, four bits each
    starts[0] = 0
    for rank in range(13):
        starts[rank + 1] = ends >> 4 * rank & 15
    return by_rank


@kernel
def mark_legal(hand: NDArray[np.int8], count: int, kind: int, key: int, starts: Starts, legal: Bools) -> None:
    """Mark in `legal` [A], all False before, the legal actions of hand[0:count] on a hand of `kind` and `key`."""
    bits = 0
    for position in range(count):
        bits |= 1 << int(hand[position])
    actions = np.empty(NUM_ACTIONS, dtype=np.int16)
    for index in range(list_legal(bits, kind, key, starts, actions, 0)):
        legal[actions[index]] = True


@kernel
def list_legal(hand: int, kind: int, key: int, starts: Starts, actions: Actions, num: int) -> int:
    """List the legal actions of `hand` on a hand of `kind` and `key`; `starts` is scratch space."""
    size = int(KIND_SIZES[kind]) if kind >= 0 else 0
    count = count_bits(hand)
    least = count_bits(hand & ((1 << (key + 1)) - 1))
    if size in (0, 1):
        for index in range(HAND_SIZE):  # always thirteen: faster without a branch; later actions overwrite the rest
            actions[num + index] = least + index
        num += count - least
    if size != 1 and count >= max(size, 2):
        num = _list_combinations(hand, size, kind, least, starts, actions, num)
    if kind >= 0:
        actions[num] = PASS
        num += 1
    return num


@kernel
def keep_first_position(actions: Actions, num: int, end: int) -> int:
    """Keep those of actions[num:end] that play position 0, or none; return their end."""
    for index in range(num, end):
        actions[num] = actions[index]
        num += ACTION_POSITIONS[actions[index], 0] <= 0
    return num


@kernel
def _list_combinations(hand: int, size: int, kind: int, least: int, starts: Starts, actions: Actions, num: int) -> int:
    """List plays of `size` cards, of all sizes above one if 0."""
    by_rank = find_ranks(hand, starts)
    pairs = (by_rank >> 1 | by_rank >> 2) & DIAMONDS  # ranks with two cards or more, by their lowest bit
    threes = (by_rank >> 2 | by_rank >> 1 & by_rank) & DIAMONDS
    if size in (0, 2):
        num = _list_pairs(pairs, least, 0, starts, actions, num)
    if size in (0, 3) and threes != 0:
        num = _list_threes(threes, least, starts, actions, num)
    if size in (0, 4):
        num = _list_fours(pairs, kind, least, starts, actions, num)
    if size in (0, 5):
        end = num
        if kind <= STRAIGHT:
            end = _list_straights(hand, least, starts, actions, end)
        end = _list_flushes(hand, kind, least, actions, end)
        if kind <= FULL_HOUSE and threes != 0:
            end = _list_full_houses(pairs, threes, least if kind == FULL_HOUSE else 0, starts, actions, end)
        num = _sort(actions, num, end)
    return num


@kernel
def _least(own_kind: int, kind: int, least: int) -> int:
    """The least position of the deciding card of a play of `own_kind` on a hand of `kind` of as many cards."""
    if own_kind == kind:
        return least
    return 0 if own_kind > kind else HAND_SIZE


@kernel
def _list_pairs(ranks: int, least: int, base: int, starts: Starts, actions: Actions, num: int) -> int:
    """List the pairs of `ranks`, with `base` added to the action."""
    while ranks != 0:
        rank = lowest_bit(ranks) >> 2
        ranks &= ranks - 1
        for i in range(starts[rank], starts[rank + 1]):
            for j in range(max(i + 1, least), starts[rank + 1]):
                actions[num] = base + PAIR_NUMBERS[i, j]
                num += 1
    return num


@kernel
def _list_threes(ranks: int, least: int, starts: Starts, actions: Actions, num: int) -> int:
    while ranks != 0:
        rank = lowest_bit(ranks) >> 2
        ranks &= ranks - 1
        for i in range(starts[rank], starts[rank + 1]):
            for j in range(i + 1, starts[rank + 1]):
                for k in range(max(j + 1, least), starts[rank + 1]):
                    actions[num] = three_number(i, j, k)
                    num += 1
    return num


@kernel
def _list_fours(ranks: int, kind: int, least: int, starts: Starts, actions: Actions, num: int) -> int:
    """List two pairs (the higher pair last) and fours of a kind of the `ranks` with pairs."""
    least_two_pair, least_four = _least(TWO_PAIR, kind, least), _least(FOUR, kind, least)
    while ranks != 0:
        rank = lowest_bit(ranks) >> 2
        ranks &= ranks - 1
        start, stop = int(starts[rank]), int(starts[rank + 1])
        if stop - start == 4 and stop > least_four:
            actions[num] = FOUR_BASES[start, start + 1] + PAIR_NUMBERS[start + 2, start + 3]
            num += 1
        for a in range(start, stop if ranks != 0 else start):
            for b in range(a + 1, stop):
                num = _list_pairs(ranks, least_two_pair, int(FOUR_BASES[a, b]), starts, actions, num)
    return num


@kernel
def _list_straights(hand: int, least: int, starts: Starts, actions: Actions, num: int) -> int:
    """List straights and straight flushes."""
    ranks = (hand | hand >> 1 | hand >> 2 | hand >> 3) & DIAMONDS
    ranks &= ranks >> 4 & ranks >> 8 & ranks >> 12 & ranks >> 16
    while ranks != 0:
        low = lowest_bit(ranks) >> 2
        ranks &= ranks - 1
        for a in range(starts[low], starts[low + 1]):
            for b in range(starts[low + 1], starts[low + 2]):
                two = FIVE_TERMS[0, a] + FIVE_TERMS[1, b]
                for c in range(starts[low + 2], starts[low + 3]):
                    three = two + FIVE_TERMS[2, c]
                    for d in range(starts[low + 3], starts[low + 4]):
                        for e in range(max(starts[low + 4], least), starts[low + 5]):
                            actions[num] = three + FIVE_TERMS[3, d] + FIVE_TERMS[4, e]
                            num += 1
    return num


@kernel
def _list_flushes(hand: int, kind: int, least: int, actions: Actions, num: int) -> int:
    """List flushes and straight flushes."""
    for suit in range(4):
        suited = hand & DIAMONDS << suit
        if count_bits(suited) >= 5:
            num = _list_suited(hand, suited, kind, least, actions, num)
    return num


@kernel
def _list_suited(hand: int, suited: int, kind: int, least: int, actions: Actions, num: int) -> int:
    """List the fives of the cards `suited` of one suit; they are straight if the last rank is the first plus four."""
    cards = np.empty(HAND_SIZE, dtype=np.int8)
    positions = np.empty(HAND_SIZE, dtype=np.int8)
    count = 0
    while suited != 0:
        cards[count] = lowest_bit(suited)
        positions[count] = count_bits(hand & (suited & -suited) - 1)
        suited &= suited - 1
        count += 1
    for a in range(count - 4):
        for b in range(a + 1, count - 3):
            two = FIVE_TERMS[0, positions[a]] + FIVE_TERMS[1, positions[b]]
            for c in range(b + 1, count - 2):
                for d in range(c + 1, count - 1):
                    four = two + FIVE_TERMS[2, positions[c]] + FIVE_TERMS[3, positions[d]]
                    for e in range(d + 1, count):
                        own_kind = STRAIGHT_FLUSH if cards[e] - cards[a] == 16 else FLUSH
                        if positions[e] >= _least(own_kind, kind, least):
                            actions[num] = four + FIVE_TERMS[4, positions[e]]
                            num += 1
    return num


@kernel
def _list_full_houses(pairs: int, threes: int, least: int, starts: Starts, actions: Actions, num: int) -> int:
    while threes != 0:
        three = threes & -threes
        threes ^= three
        rank = lowest_bit(three) >> 2
        for i in range(starts[rank], starts[rank + 1]):
            for j in range(i + 1, starts[rank + 1]):
                for k in range(max(j + 1, least), starts[rank + 1]):
                    num = _list_houses_of_three(pairs ^ three, i, j, k, starts, actions, num)
    return num


@kernel
def _list_houses_of_three(pairs: int, i: int, j: int, k: int, starts: Starts, actions: Actions, num: int) -> int:
    """List the full houses of the three at positions i, j, k with each of the `pairs`."""
    above = FIVE_TERMS[0, i] + FIVE_TERMS[1, j] + FIVE_TERMS[2, k]
    below = FIVE_TERMS[2, i] + FIVE_TERMS[3, j] + FIVE_TERMS[4, k]
    while pairs != 0:
        other = lowest_bit(pairs) >> 2
        pairs &= pairs - 1
        for first in range(starts[other], starts[other + 1]):
            for second in range(first + 1, starts[other + 1]):
                if first > k:
                    actions[num] = above + FIVE_TERMS[3, first] + FIVE_TERMS[4, second]
                else:
                    actions[num] = below + FIVE_TERMS[0, first] + FIVE_TERMS[1, second]
                num += 1
    return num


@kernel
def _sort(actions: Actions, start: int, end: int) -> int:
    """Sort actions[start:end], drop repeats (straight flushes, listed twice), and return the end."""
    for index in range(start + 1, end):
        action = actions[index]
        place = index
        while place > start and actions[place - 1] > action:
            actions[place] = actions[place - 1]
            place -= 1
        actions[place] = action
    kept = start
    for index in range(start, end):
        if kept == start or actions[index] != actions[kept - 1]:
            actions[kept] = actions[index]
            kept += 1
    return kept
