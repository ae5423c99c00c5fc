"""How a hand may be shed: the fewest plays, and the least risk of losing control, of it and of what any play leaves.

A play's risk is the share of the deals in which one of the others holds a better hand of its size. A plan is a split
of the cards into plays; all but the last must hold, or somebody else leads. Subsets of a hand are bits, one a position.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import ACTION_POSITIONS, ACTION_SIZES, HAND_SIZE, NUM_ACTIONS, PASS
from cardlab.games.big2.combinations import NO_KIND, classify, strength
from cardlab.games.big2.legal_actions import mark_legal
from cardlab.games.big2.planning.holdings import Strengths

NUM_SUBSETS = 1 << HAND_SIZE

Hand = NDArray[np.int8]
Risks = NDArray[np.float32]
Plays = NDArray[np.int16]
Counts = NDArray[np.int64]


@kernel
def position_bits(action: int) -> int:
    """The positions that `action` plays, as bits."""
    bits = 0
    for index in range(ACTION_SIZES[action]):
        bits |= 1 << int(ACTION_POSITIONS[action, index])
    return bits


@kernel
def list_plays(hand: Hand, count: int, plays: Plays, nums: Counts) -> None:
    """Fill `plays` [13, A], nums[p] of them in row p, with the actions of hand[0:count] whose lowest position is p."""
    legal = np.zeros(NUM_ACTIONS, dtype=np.bool_)
    mark_legal(hand, count, NO_KIND, -1, np.empty(14, dtype=np.int8), legal)
    nums[:] = 0
    for action in range(PASS):
        if legal[action]:
            lowest = int(ACTION_POSITIONS[action, 0])
            plays[lowest, nums[lowest]] = action
            nums[lowest] += 1


@kernel
def count_plays(hand: Hand, count: int, fewest: NDArray[np.int8]) -> None:
    """Fill `fewest` [8192] with the least number of plays that empties hand[0:count], and what any play leaves of it.

    Some play has to take the lowest card of a subset, and what it leaves has been counted before. Subsets that are
    never met so are left out.
    """
    plays = np.empty((HAND_SIZE, NUM_ACTIONS), dtype=np.int16)
    nums = np.empty(HAND_SIZE, dtype=np.int64)
    list_plays(hand, count, plays, nums)
    bits = np.empty((HAND_SIZE, NUM_ACTIONS), dtype=np.int16)
    subsets = np.empty((HAND_SIZE, NUM_SUBSETS // 2), dtype=np.int16)
    met = np.empty(HAND_SIZE, dtype=np.int64)
    _list_subsets(count, plays, nums, bits, subsets, met)
    fewest[0] = 0
    for lowest in range(count - 1, -1, -1):
        for number in range(met[lowest]):
            subset = int(subsets[lowest, number])
            least = HAND_SIZE
            for index in range(nums[lowest]):
                play = int(bits[lowest, index])
                if play & subset == play:
                    least = min(least, 1 + int(fewest[subset ^ play]))
            fewest[subset] = least


@kernel
def plan(hand: Hand, count: int, best: Strengths, fewest: NDArray[np.int8], risk: Risks, last: Risks) -> None:
    """Fill for the same subsets the `fewest` plays, and the least sum of risks: of all plays, and without the `last`.

    All three [8192]; `best` [D, 6] is the best hand of each size that any of the others holds in each deal.
    """
    plays = np.empty((HAND_SIZE, NUM_ACTIONS), dtype=np.int16)
    nums = np.empty(HAND_SIZE, dtype=np.int64)
    list_plays(hand, count, plays, nums)
    bits = np.empty((HAND_SIZE, NUM_ACTIONS), dtype=np.int16)
    subsets = np.empty((HAND_SIZE, NUM_SUBSETS // 2), dtype=np.int16)
    met = np.empty(HAND_SIZE, dtype=np.int64)
    _list_subsets(count, plays, nums, bits, subsets, met)
    risks = np.empty(NUM_ACTIONS, dtype=np.float32)
    fewest[0], risk[0], last[0] = 0, 0, 0
    for lowest in range(count - 1, -1, -1):
        for index in range(nums[lowest]):
            action = int(plays[lowest, index])
            risks[index] = share_better(best, int(ACTION_SIZES[action]), value_of(hand, action))
        for number in range(met[lowest]):
            subset = int(subsets[lowest, number])
            least, safest, lightest = HAND_SIZE, np.float32(HAND_SIZE), np.float32(HAND_SIZE)
            for index in range(nums[lowest]):
                play = int(bits[lowest, index])
                if play & subset == play:
                    rest = subset ^ play
                    least = min(least, 1 + int(fewest[rest]))
                    safest = min(safest, risks[index] + risk[rest])
                    lightest = min(lightest, risk[rest], risks[index] + last[rest])
            fewest[subset], risk[subset], last[subset] = least, safest, lightest


@kernel
def _list_subsets(count: int, plays: Plays, nums: Counts, bits: Plays, subsets: Plays, met: Counts) -> None:
    """Fill `bits` [13, A] for `plays`, and `subsets` [13, 4096], met[p] of them in row p, those of lowest position p.

    They are the hand, what any play leaves, and what is then left by plays of the lowest card; one in twenty of all.
    """
    whole = (1 << count) - 1
    known = np.zeros(1 << count, dtype=np.bool_)
    known[0] = True
    met[:] = 0
    _meet(whole, 0, known, subsets, met)
    for lowest in range(count):
        for index in range(nums[lowest]):
            bits[lowest, index] = position_bits(plays[lowest, index])
            if not known[whole ^ int(bits[lowest, index])]:
                _meet(whole ^ int(bits[lowest, index]), 0, known, subsets, met)
    for lowest in range(count):
        for number in range(met[lowest]):
            subset = int(subsets[lowest, number])
            for index in range(nums[lowest]):
                play = int(bits[lowest, index])
                if play & subset == play and not known[subset ^ play]:
                    _meet(subset ^ play, lowest + 1, known, subsets, met)


@kernel
def _meet(subset: int, lowest: int, known: NDArray[np.bool_], subsets: Plays, met: Counts) -> None:
    """Put down a subset that is not known yet, not empty, and has no position below `lowest`."""
    known[subset] = True
    while not subset >> lowest & 1:
        lowest += 1
    subsets[lowest, met[lowest]] = subset
    met[lowest] += 1


@kernel
def value_of(hand: Hand, action: int) -> int:
    """Strength of what `action`, no pass, plays from `hand`."""
    cards = np.empty(5, dtype=np.int8)
    size = int(ACTION_SIZES[action])
    for index in range(size):
        cards[index] = hand[ACTION_POSITIONS[action, index]]
    kind, key = classify(cards, size)
    return strength(kind, key)


@kernel
def share_better(best: Strengths, size: int, value: int) -> np.float32:
    """Share of the deals [D, 6] in which a hand of `size` cards is stronger than `value`."""
    num = 0
    for deal in range(best.shape[0]):
        num += best[deal, size] > value
    return np.float32(num / best.shape[0])
