"""The opponents' best hand of each size, in random deals of the hidden cards.

The deals are a function of the hidden cards and of the opponents' counts, so that features are deterministic.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.big2.combinations import (
    DIAMONDS,
    FLUSH,
    FOUR,
    FULL_HOUSE,
    PAIR,
    SINGLE,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE,
    TWO_PAIR,
    strength,
)
from cardlab.games.big2.rules import HIDDEN, NUM_PLAYERS
from cardlab.games.cards.bits import count_bits, highest_bit
from cardlab.games.cards.deck import hash_seed, shuffle

NUM_DEALS = 32
NUM_OTHERS = NUM_PLAYERS - 1
NO_HAND = -1

Strengths = NDArray[np.int16]
"""Strength (combinations.strength) of the best hand by its size, 0 to 5; NO_HAND if there is none."""


@kernel
def sample_best_hands(place: NDArray[np.uint8], counts: NDArray[np.int8], player: int, best: Strengths) -> None:
    """Fill `best` [D, 3, 6] for the next player, the one across and the previous one, in each of D deals."""
    unseen = np.empty(53, dtype=np.int8)
    known = np.zeros(NUM_PLAYERS, dtype=np.int64)
    count = 0
    bits = np.uint64(0)
    for card in range(52):
        if place[card] == HIDDEN:
            unseen[count] = card
            count += 1
            bits |= np.uint64(1) << np.uint64(card)
        elif place[card] < HIDDEN:
            known[place[card]] |= 1 << card
    for deal in range(best.shape[0]):
        shuffle(unseen, count, hash_seed(bits, np.uint64(deal)))
        index = 0
        for seat in range(NUM_OTHERS):
            other = (player + seat + 1) % NUM_PLAYERS
            hand = known[other]
            for _ in range(counts[other] - count_bits(hand)):
                hand |= 1 << int(unseen[index])
                index += 1
            best_hands(hand, best[deal, seat])


@kernel
def best_hands(hand: int, best: Strengths) -> None:
    """Fill `best` [6] for a hand given as bits; all ranks are processed at once, as four planes of suits."""
    best[:] = NO_HAND
    if hand == 0:
        return
    best[1] = strength(SINGLE, highest_bit(hand))
    one, two, three, four = hand & DIAMONDS, hand >> 1 & DIAMONDS, hand >> 2 & DIAMONDS, hand >> 3 & DIAMONDS
    pairs = (one & two) | (three & four) | ((one | two) & (three | four))
    threes = (one & two & (three | four)) | (three & four & (one | two))
    fours = one & two & three & four
    if pairs != 0:
        best[2] = strength(PAIR, _top_of(hand, pairs))
        if pairs & (pairs - 1):
            best[4] = strength(TWO_PAIR, _top_of(hand, pairs))
    if threes != 0:
        best[3] = strength(THREE, _top_of(hand, threes))
    if fours != 0:
        best[4] = strength(FOUR, _top_of(hand, fours))
    best[5] = _best_five(hand, pairs, threes)


@kernel
def _best_five(hand: int, pairs: int, threes: int) -> int:
    best = NO_HAND
    straights = _runs((hand | hand >> 1 | hand >> 2 | hand >> 3) & DIAMONDS)
    if straights != 0:
        best = strength(STRAIGHT, _top_of(hand, straights))
    for suit in range(4):
        suited = hand >> suit & DIAMONDS
        if count_bits(suited) >= 5:
            best = max(best, strength(FLUSH, highest_bit(suited) + suit))
            runs = _runs(suited)
            if runs != 0:
                best = max(best, strength(STRAIGHT_FLUSH, highest_bit(runs) + suit))
    if threes != 0 and pairs & (pairs - 1):
        best = max(best, strength(FULL_HOUSE, _top_of(hand, threes)))
    return best


@kernel
def _runs(ranks: int) -> int:
    """The highest ranks of all runs of five among `ranks`, one bit in four per rank."""
    return ranks & ranks << 4 & ranks << 8 & ranks << 12 & ranks << 16


@kernel
def _top_of(hand: int, ranks: int) -> int:
    """The highest card of the hand in the highest of `ranks`."""
    start = highest_bit(ranks)
    return start + highest_bit(hand >> start & 15)
