"""Plans that shed a hand: the fewest plays, and the least risk of losing control, by dynamic programming over subsets.

A play's risk is the share of the deals in which an opponent has a better hand of its size. A plan is a split of the
cards into plays; if any but the last is beaten, an opponent leads. Subsets of a hand have one bit per position.

The opponents' best hands come from random deals of the hidden cards. The deals are a function of the hidden cards and
of the opponents' counts, so that features are deterministic.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import (
    ACTION_POSITIONS,
    ACTION_SIZES,
    DIAMONDS,
    FLUSH,
    FOUR,
    FULL_HOUSE,
    HAND_SIZE,
    NO_KIND,
    NUM_ACTIONS,
    PAIR,
    PASS,
    SINGLE,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE,
    TWO_PAIR,
    classify,
    strength,
)
from cardlab.games.big2.legal_actions import mark_legal
from cardlab.games.big2.rules import HIDDEN, NUM_PLAYERS
from cardlab.games.cards.deck import hash_seed, shuffle
from cardlab.games.cards.hands import count_bits, highest_bit

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
