"""Plans that shed a hand: the fewest plays, and the least risk of losing control, by dynamic programming over subsets.

A play's risk is the share of the deals in which an opponent has a better hand of its size. A plan is a split of the
cards into plays; if any but the last is beaten, an opponent leads. Subsets of a hand have one bit per position.
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
def action_bits(action: int) -> int:
    """The positions that `action` plays, as bits."""
    bits = 0
    for index in range(ACTION_SIZES[action]):
        bits |= 1 << int(ACTION_POSITIONS[action, index])
    return bits


@kernel
def count_plays(hand: Hand, count: int, fewest: NDArray[np.int8]) -> None:
    """Fill `fewest` [8192] with the least number of plays that sheds hand[0:count], and each rest after one play.

    Each subset tries the plays of its lowest card, whose rests are solved before. Unreachable subsets are skipped.
    """
    _, bits, play_counts, subsets, subset_counts = _list_subsets(hand, count)
    fewest[0] = 0
    for lowest in range(count - 1, -1, -1):
        for number in range(subset_counts[lowest]):
            subset = int(subsets[lowest, number])
            least = HAND_SIZE
            for index in range(play_counts[lowest]):
                play = int(bits[lowest, index])
                if play & subset == play:
                    least = min(least, 1 + int(fewest[subset ^ play]))
            fewest[subset] = least


@kernel
def plan(hand: Hand, count: int, best: Strengths, fewest: NDArray[np.int8], risk: Risks, last: Risks) -> None:
    """Fill `fewest` like `count_plays`, the least `risk` of all plays, and `last`: the least without the last play.

    All three are [8192]; `best` [D, 6] is the best hand of each size of any opponent in each deal.
    """
    plays, bits, play_counts, subsets, subset_counts = _list_subsets(hand, count)
    risks = np.empty(NUM_ACTIONS, dtype=np.float32)
    fewest[0], risk[0], last[0] = 0, 0, 0
    for lowest in range(count - 1, -1, -1):
        for index in range(play_counts[lowest]):
            action = int(plays[lowest, index])
            risks[index] = better_hand_share(best, int(ACTION_SIZES[action]), play_strength(hand, action))
        for number in range(subset_counts[lowest]):
            subset = int(subsets[lowest, number])
            least, safest, lightest = HAND_SIZE, np.float32(HAND_SIZE), np.float32(HAND_SIZE)
            for index in range(play_counts[lowest]):
                play = int(bits[lowest, index])
                if play & subset == play:
                    rest = subset ^ play
                    least = min(least, 1 + int(fewest[rest]))
                    safest = min(safest, risks[index] + risk[rest])
                    lightest = min(lightest, risk[rest], risks[index] + last[rest])
            fewest[subset], risk[subset], last[subset] = least, safest, lightest


@kernel
def _list_subsets(hand: Hand, count: int) -> tuple[Plays, Plays, Counts, Plays, Counts]:
    """The plays of hand[0:count] by lowest position, and the subsets that remain after plays.

    The play_counts[p] plays with lowest position p are in row p of `plays` [13, A], and as bits of `bits`. The
    subset_counts[p] subsets with lowest position p are in row p of `subsets` [13, 4096]: the hand, its rest after any
    play, and the rests after plays of the lowest card: 5% of all subsets.
    """
    legal = np.zeros(NUM_ACTIONS, dtype=np.bool_)
    mark_legal(hand, count, NO_KIND, -1, np.empty(14, dtype=np.int8), legal)
    plays = np.empty((HAND_SIZE, NUM_ACTIONS), dtype=np.int16)
    bits = np.empty((HAND_SIZE, NUM_ACTIONS), dtype=np.int16)
    play_counts = np.zeros(HAND_SIZE, dtype=np.int64)
    subsets = np.empty((HAND_SIZE, NUM_SUBSETS // 2), dtype=np.int16)
    subset_counts = np.zeros(HAND_SIZE, dtype=np.int64)
    whole = (1 << count) - 1
    known = np.zeros(1 << count, dtype=np.bool_)
    known[0] = True
    if whole != 0:  # a hidden hand is empty
        _append_subset(whole, 0, known, subsets, subset_counts)
    for action in range(PASS):
        if legal[action]:
            lowest, play = int(ACTION_POSITIONS[action, 0]), action_bits(action)
            plays[lowest, play_counts[lowest]], bits[lowest, play_counts[lowest]] = action, play
            play_counts[lowest] += 1
            if not known[whole ^ play]:
                _append_subset(whole ^ play, 0, known, subsets, subset_counts)
    for lowest in range(count):
        for number in range(subset_counts[lowest]):
            subset = int(subsets[lowest, number])
            for index in range(play_counts[lowest]):
                play = int(bits[lowest, index])
                if play & subset == play and not known[subset ^ play]:
                    _append_subset(subset ^ play, lowest + 1, known, subsets, subset_counts)
    return plays, bits, play_counts, subsets, subset_counts


@kernel
def _append_subset(subset: int, lowest: int, known: NDArray[np.bool_], subsets: Plays, subset_counts: Counts) -> None:
    """Append a new, non-empty subset without positions below `lowest`."""
    known[subset] = True
    while not subset >> lowest & 1:
        lowest += 1
    subsets[lowest, subset_counts[lowest]] = subset
    subset_counts[lowest] += 1


@kernel
def play_strength(hand: Hand, action: int) -> int:
    """Strength of the play `action`, which is not a pass, from `hand`."""
    cards = np.empty(5, dtype=np.int8)
    size = int(ACTION_SIZES[action])
    for index in range(size):
        cards[index] = hand[ACTION_POSITIONS[action, index]]
    kind, key = classify(cards, size)
    return strength(kind, key)


@kernel
def better_hand_share(best: Strengths, size: int, value: int) -> np.float32:
    """Share of the deals [D, 6] in which a hand of `size` cards is stronger than `value`."""
    num = 0
    for deal in range(best.shape[0]):
        num += best[deal, size] > value
    return np.float32(num / best.shape[0])
