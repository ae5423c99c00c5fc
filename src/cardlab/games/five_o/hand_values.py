"""Chances of a hand of one to five cards, equations (1) and (2) of the paper, and the value that observations show.

`unseen` [18] counts the cards that an InfoState does not show: by rank, by suit and in total.
"""

import math

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, NUM_RANKS, NUM_SUITS
from cardlab.games.cards.hands import (
    CATEGORY_STARTS,
    FLUSH,
    HIGH_CARD,
    STRAIGHT,
    Int,
    hand_size,
    suit_count,
)
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, NUM_PLAYERS, NUM_TURNS, Record

Counts = NDArray[np.int64]

NUM_WINDOWS = 10
# Ranks of each straight, lowest (5432A) first; WINDOWS has them as bits, the ace as bit 12.
WINDOW_RANKS = np.array([[12, 0, 1, 2, 3], *([low, low + 1, low + 2, low + 3, low + 4] for low in range(9))])
WINDOWS = (1 << WINDOW_RANKS).sum(axis=1)
CHOOSE = np.array([[float(math.comb(n, k)) for k in range(21)] for n in range(53)])

_FLUSH_GAIN = CATEGORY_STARTS[FLUSH] - CATEGORY_STARTS[HIGH_CARD]
_LOWEST_STRAIGHT = CATEGORY_STARTS[STRAIGHT]

# Offsets in `unseen` [18]: ranks from 0, suits, total.
SUITS_AT, ALL_AT, NUM_COUNTS = 13, 17, 18


@kernel
def hypergeometric(num_unseen: Int, relevant: Int, draws: Int, needed: Int) -> float:
    """Probability that exactly `needed` of `draws` cards out of `num_unseen` are among the `relevant`: equation (1)."""
    if needed > draws or relevant < needed or draws > num_unseen:
        return 0.0
    return CHOOSE[relevant, needed] * CHOOSE[num_unseen - relevant, draws - needed] / CHOOSE[num_unseen, draws]


@kernel
def suit_of_flush(key: Int, size: Int) -> int:
    """The common suit of all `size` cards; -1 for several suits or no cards."""
    for suit in range(NUM_SUITS):
        if size > 0 and suit_count(key, suit) == size:
            return suit
    return -1


@kernel
def flush_chance(key: Int, size: Int, unseen: Counts, draws: Int) -> float:
    """Probability that an open hand becomes a flush within `draws` cards: equation (1)."""
    suit = suit_of_flush(key, size)
    if suit < 0:
        return 0.0
    return hypergeometric(unseen[ALL_AT], unseen[SUITS_AT + suit], draws, COLUMN_SIZE - size)


@kernel
def straight_chance(mask: Int, size: Int, unseen: Counts, draws: Int, first: Int = 0) -> tuple[float, int]:
    """Probability that an open hand of distinct ranks becomes a straight, equation (2), and the lowest one (-1: none).

    `mask` has a bit for each rank in the hand. A straight takes exactly one card of each missing rank, so two straights
    exclude each other and their probabilities add up. Straights below WINDOWS[first] do not count.
    """
    chance = 0.0
    least = -1
    needed = COLUMN_SIZE - size
    if needed > draws:
        return chance, least
    for window in range(first, NUM_WINDOWS):
        if mask & ~WINDOWS[window]:
            continue
        ways, relevant = 1, 0
        for card in range(COLUMN_SIZE):
            rank = WINDOW_RANKS[window, card]
            if not mask >> rank & 1:
                ways *= unseen[rank]
                relevant += unseen[rank]
        if ways > 0:
            if least < 0:
                least = window
            chance += ways * CHOOSE[unseen[ALL_AT] - relevant, draws - needed]
    return chance / CHOOSE[unseen[ALL_AT], draws], least


@kernel
def combine_values(current: float, size: Int, flush: float, straight: float, least: Int) -> float:
    """Value of an open hand in observations: (1 - p - q) current + (p flush + q straight) size / 5.

    p and q are the chances `flush` and `straight`, `least` the lowest straight in reach. The paper's text defines the
    value so, with the lowest flush and straight within reach; its program computes another (paper_values.py).
    """
    future = flush * (current + _FLUSH_GAIN) + straight * (_LOWEST_STRAIGHT + least)
    return max(1.0 - flush - straight, 0.0) * current + future * size / COLUMN_SIZE


@kernel
def fits_straight(mask: Int) -> bool:
    """Whether a set of distinct ranks, as bits, lies within one straight."""
    fits = False
    for window in range(NUM_WINDOWS):
        fits |= mask & ~WINDOWS[window] == 0
    return fits


@kernel
def count_unseen(state: Record, unseen: Counts) -> None:
    """Fill `unseen` [18] for one record."""
    unseen[:SUITS_AT] = NUM_SUITS
    unseen[SUITS_AT:ALL_AT] = NUM_RANKS
    unseen[ALL_AT] = NUM_CARDS
    for player in range(NUM_PLAYERS):
        for column in range(NUM_COLUMNS):
            for slot in range(COLUMN_SIZE):
                count_seen(state["columns"][player, column, slot], unseen)
    for turn in range(state["turn"], min(state["turn"] + 1, NUM_TURNS)):
        count_seen(state["deck"][turn], unseen)


@kernel
def count_seen(card: Int, unseen: Counts) -> None:
    """Remove a card from `unseen` [18]; no-op if it is negative."""
    if card >= 0:
        unseen[card >> 2] -= 1
        unseen[SUITS_AT + (card & 3)] -= 1
        unseen[ALL_AT] -= 1


@kernel
def rank_mask(state: Record, player: Int, column: Int) -> Int:
    """Mask with a bit for each rank of the known cards of a column."""
    mask = 0
    for slot in range(COLUMN_SIZE):
        card = np.int64(state["columns"][player, column, slot])
        if card >= 0:
            mask |= 1 << (card >> 2)
    return mask


@kernel
def draws_left(state: Record, side: Int, column: Int) -> int:
    """Number of cards that can still come to a column: unknown ones, plus all draws of its player if it has room.

    This is n in equations (1) and (2). The face-up card is already drawn.
    """
    size = state["sizes"][side, column]
    unknown = size - hand_size(state["keys"][side, column])
    if size == COLUMN_SIZE:
        return unknown
    turn = state["turn"]
    moves = turn & 1 == side
    drawn = moves and state["deck"][turn] >= 0
    return unknown + (NUM_TURNS - turn + moves) // 2 - drawn
