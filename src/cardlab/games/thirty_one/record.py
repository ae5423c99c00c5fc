"""The record of one match of Thirty-One, the seven actions, and the scores of hands.

Sets of cards are 52-bit integers with bit `card` for each card. The order of the discard pile is not stored: only its
top can be taken, and the next discard covers the pile before the next take. A turn has three actions, the swap after a
draw or a take four.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel

DRAW, TAKE, CALL = 0, 1, 2
SWAP_FIRST = 3  # 3, 4 and 5 swap the card in hand position 0, 1 and 2
KEEP_HAND = 6  # "don't swap": the drawn card goes to the discard pile
NUM_ACTIONS = 7

DECISION_KINDS = ("turn", "swap")
ACTION_KINDS = (0, 0, 0, 1, 1, 1, 1)  # [A] index into DECISION_KINDS


HAND_SIZE = 3
BEST_SCORE = 31


@kernel
def card_value(card: int) -> int:
    """Ace 11, court cards 10, others their rank; 0 for UNKNOWN."""
    if card < 0:
        return 0
    rank = int(card) >> 2  # not in int8, which would overflow in sums of columns
    if rank == 12:
        return 11
    return min(rank + 2, 10)


@kernel
def suit_of(card: int) -> int:
    """The suit, 0 to 3; 3 for UNKNOWN, whose value is 0."""
    return int(card) & 3


@kernel
def suit_order(card: int) -> int:
    """Sort key: by suit, then by rank; UNKNOWN first."""
    return -1 if card < 0 else suit_of(card) * 13 + (card >> 2)


@kernel
def card_bit(card: int) -> np.int64:
    """The bit of `card` in a set of cards; 0 for UNKNOWN."""
    return np.int64(0) if card < 0 else np.int64(1) << np.int64(card)


@kernel
def hand_score(first: int, second: int, third: int) -> int:
    """The highest sum of card values within one suit; UNKNOWN cards count 0."""
    one, two, three = card_value(first), card_value(second), card_value(third)
    suit = suit_of(first)
    with_first = one + (two if suit_of(second) == suit else 0) + (three if suit_of(third) == suit else 0)
    with_second = two + (three if suit_of(third) == suit_of(second) else 0)
    return max(with_first, with_second, three)


@kernel
def score_after_swap(hand: NDArray[np.int8], position: int, card: int) -> int:
    """Score of `hand` [3] after `card` replaces the one at `position`; position 3 replaces none."""
    first = card if position == 0 else hand[0]
    second = card if position == 1 else hand[1]
    third = card if position == 2 else hand[2]
    return hand_score(first, second, third)


@kernel
def sort_hand(hand: NDArray[np.int8]) -> None:
    """Sort `hand` [3] in place by suit and rank, so that equal hands have equal bytes."""
    for last in (1, 2, 1):
        if suit_order(hand[last - 1]) > suit_order(hand[last]):
            swapped = hand[last]
            hand[last] = hand[last - 1]
            hand[last - 1] = swapped


MAX_PLAYERS = 9
MAX_STOCK = 45  # for two players: 52 less six cards in hands and the first discard

TURN, SWAP, OVER, UNRESOLVED = 0, 1, 2, 3  # phases
NUM_PHASES = 4

Record = Any  # one record of a States array: numpy.void, or numba's view of it
Records = NDArray[np.void]

STATE_DTYPE = np.dtype(
    [
        ("seed", np.uint64),  # of all chance after the first deal; 0 in InfoStates
        ("discards", np.int64),  # set of the cards in the discard pile, including its top
        ("visible", np.int64),  # set of the cards in hands that were taken from the discard pile
        ("restocked", np.int64),  # set of the cards that formed the stock at the last reshuffle; 0 before the first
        ("paid", np.float32, (MAX_PLAYERS,)),
        ("turns", np.int16),  # finished in this round
        ("round", np.int16),  # from 1
        ("reshuffles", np.int16),  # in this round
        ("draws", np.int16, (MAX_PLAYERS,)),  # of each player in this match
        ("takes", np.int16, (MAX_PLAYERS,)),
        ("calls", np.int16, (MAX_PLAYERS,)),
        ("call_scores", np.int16, (MAX_PLAYERS,)),  # sum of the scores shown after these calls
        ("hands", np.int8, (MAX_PLAYERS, HAND_SIZE)),  # sorted; UNKNOWN where hidden and for eliminated players
        ("lives", np.int8, (MAX_PLAYERS,)),  # 0 for eliminated players and empty seats
        ("from_stock", np.int8, (MAX_PLAYERS,)),  # InfoStates: how many hidden cards come from `restocked`
        ("stock", np.int8, (MAX_STOCK,)),  # the next card to draw is stock[stock_left - 1]
        ("stock_left", np.int8),
        ("top", np.int8),  # of the discard pile; UNKNOWN while a taken card is pending
        ("drawn", np.int8),  # the pending card
        ("taken", np.int8),  # 1 if the pending card came from the discard pile
        ("phase", np.int8),
        ("player", np.int8),  # to move; NO_PLAYER when over or unresolved
        ("caller", np.int8),  # who called this round, or NO_PLAYER
        ("starter", np.int8),  # had the first turn of this round
        ("owner", np.int8),  # whose InfoState this is; NO_PLAYER in States
        ("spare", np.int8, (3,)),  # always 0: pads the record to a multiple of eight bytes
    ]
)


class RuleOptions(NamedTuple):
    """The options of the game that the rules depend on."""

    num_players: int
    lives: int
    max_turns: int
    max_rounds: int
    shaped: bool
    one_round: bool  # `play: round`
    some_active: bool  # `active_players: some`


@kernel
def next_living(state: Record, player: int) -> int:
    """The next living player after `player` in seat order; `player` if no other lives."""
    for step in range(1, MAX_PLAYERS + 1):
        other = (player + step) % MAX_PLAYERS
        if state["lives"][other] > 0:
            return other
    return player
