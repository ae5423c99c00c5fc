"""The opening list of Tan and Xiao (2018), section 5.1: the rows of the first five cards."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS
from cardlab.games.open_face.rules import BACK, FRONT, MIDDLE, NUM_OPENING, owner
from cardlab.games.protocol import Actions, InfoStates

EIGHT = 6  # lowest rank of leftover cards that go to the middle
_FRONT_ROOM = 3
_NOTHING, _OF_A_RANK, _OF_A_SUIT, _IN_SEQUENCE = range(4)
OPENING_HANDS = np.array(
    [
        (_OF_A_RANK, 4),
        (_OF_A_RANK, 2),  # the full house: all of its cards
        (_OF_A_SUIT, 5),
        (_IN_SEQUENCE, 5),
        (_OF_A_SUIT, 4),
        (_OF_A_RANK, 2),  # two pair
        (_OF_A_RANK, 3),
        (_IN_SEQUENCE, 4),
        (_OF_A_SUIT, 3),
        (_IN_SEQUENCE, 3),
    ]
)
"""[10, 2] hands for the back, best first: the common property of the cards, and the minimum number of cards."""


@kernel
def opening_rows(info_states: InfoStates) -> Actions:
    """[N] row of the card to place by the opening list; -1 after the opening."""
    actions = np.full(info_states.shape[0], -1, dtype=np.int16)
    cards = np.empty(NUM_OPENING, dtype=np.int64)
    rows = np.empty(NUM_OPENING, dtype=np.int64)
    for n in range(actions.size):
        step = int(info_states[n]["step"])
        if step < 2 * NUM_OPENING:
            first = NUM_OPENING * owner(step)
            for place in range(NUM_OPENING):
                cards[place] = info_states[n]["deck"][first + place]
            arrange_opening(cards, rows)
            actions[n] = rows[step - first]
    return actions


@kernel
def arrange_opening(cards: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
    """Fill `rows` [5] with the rows of the opening `cards` [5]."""
    ranks = np.zeros(NUM_RANKS, dtype=np.int64)
    suits = np.zeros(NUM_SUITS, dtype=np.int64)
    for card in cards:
        ranks[card >> 2] += 1
        suits[card & 3] += 1
    _choose_back(cards, rows, ranks, suits)
    in_front = 0
    for place in range(NUM_OPENING):
        if rows[place] != BACK:
            low = cards[place] >> 2 < EIGHT and in_front < _FRONT_ROOM
            rows[place] = FRONT if low else MIDDLE
            in_front += low


@kernel
def _choose_back(
    cards: NDArray[np.int64], rows: NDArray[np.int64], ranks: NDArray[np.int64], suits: NDArray[np.int64]
) -> None:
    """Set rows[i] to BACK if card i belongs to the first listed hand, else to MIDDLE."""
    length, top = longest_run(ranks)
    listed = best_opening_hand(ranks.max(), (ranks >= 2).sum(), suits.max(), length)
    kind, least = (OPENING_HANDS[listed, 0], OPENING_HANDS[listed, 1]) if listed >= 0 else (_NOTHING, 0)
    taken = np.zeros(NUM_RANKS, dtype=np.bool_)
    for place in range(NUM_OPENING):
        rank, suit = cards[place] >> 2, cards[place] & 3
        if kind == _OF_A_RANK:
            chosen = ranks[rank] >= least
        elif kind == _OF_A_SUIT:
            chosen = suits[suit] >= least
        elif kind == _IN_SEQUENCE:
            # of two cards of one rank the first goes to the back
            chosen = _is_in_run(rank, length, top) and not taken[rank]
            taken[rank] = True
        else:
            chosen = False
        rows[place] = BACK if chosen else MIDDLE


@kernel
def best_opening_hand(most: int, pairs: int, suited: int, length: int) -> int:
    """Index into OPENING_HANDS of the first hand that the opening holds; -1 for none.

    Arguments: most cards of one rank, number of ranks held at least twice, most cards of one suit, longest run.
    """
    holds = (
        most == 4,
        most == 3 and pairs == 2,
        suited == 5,
        length == 5,
        suited == 4,
        pairs == 2,
        most == 3,
        length == 4,
        suited == 3,
        length == 3,
    )
    for index in range(len(holds)):
        if holds[index]:
            return index
    return -1


@kernel
def longest_run(ranks: NDArray[np.int64]) -> tuple[int, int]:
    """Length and highest rank of the longest run of ranks held (the higher of two); the ace is high or low."""
    length = best = top = 0
    for place in range(-1, NUM_RANKS):
        length = length + 1 if ranks[place] > 0 else 0  # place -1 is the ace
        if length >= best:
            best, top = length, place
    return best, top


@kernel
def _is_in_run(rank: int, length: int, top: int) -> bool:
    lowest = top - length + 1
    return lowest <= rank <= top or (lowest == -1 and rank == NUM_RANKS - 1)
