"""The record of one match of Thirty-One.

Sets of cards are 52-bit integers, bit `card` for each. The order within the discard pile is not kept: only its top
can be taken, and a card always lands on it before the next can be.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.thirty_one.hand_scores import HAND_SIZE

MAX_PLAYERS = 9
MAX_STOCK = 45  # two players: 52 less six cards in hands and the first discard

TURN, SWAP, OVER, UNRESOLVED = 0, 1, 2, 3  # phases
NUM_PHASES = 4

Record = Any  # one record of a States array: numpy.void, or numba's view of it
Records = NDArray[np.void]

STATE_DTYPE = np.dtype(
    [
        ("seed", np.uint64),  # of all chance after the first deal; 0 in InfoStates
        ("discards", np.int64),  # set of the cards in the discard pile, its top among them
        ("visible", np.int64),  # set of the cards in hands that were taken from the discard pile in sight of all
        ("restocked", np.int64),  # set of the cards that formed the stock at the last reshuffle; 0 before the first
        ("paid", np.float32, (MAX_PLAYERS,)),
        ("turns", np.int16),  # finished in this round
        ("round", np.int16),  # from 1
        ("reshuffles", np.int16),  # in this round
        ("draws", np.int16, (MAX_PLAYERS,)),  # of each player in this match, as the next three
        ("takes", np.int16, (MAX_PLAYERS,)),
        ("calls", np.int16, (MAX_PLAYERS,)),
        ("call_scores", np.int16, (MAX_PLAYERS,)),  # sum of what was shown after these calls
        ("hands", np.int8, (MAX_PLAYERS, HAND_SIZE)),  # sorted; UNKNOWN where hidden and for who is out
        ("lives", np.int8, (MAX_PLAYERS,)),  # 0 for who is out and for seats that the table does not have
        ("from_stock", np.int8, (MAX_PLAYERS,)),  # InfoStates: how many hidden cards come from `restocked`
        ("stock", np.int8, (MAX_STOCK,)),  # the next card to draw is stock[stock_left - 1]
        ("stock_left", np.int8),
        ("top", np.int8),  # of the discard pile; UNKNOWN while a card taken from it waits for its swap
        ("drawn", np.int8),  # the card that waits for its swap
        ("taken", np.int8),  # 1 when that card came from the discard pile
        ("phase", np.int8),
        ("player", np.int8),  # to move; NO_PLAYER when over or unresolved
        ("caller", np.int8),  # who called this round, or NO_PLAYER
        ("starter", np.int8),  # who had the first turn of this round
        ("owner", np.int8),  # whose InfoState this is; NO_PLAYER in States
        ("spare", np.int8, (3,)),  # always 0: makes the record a multiple of eight bytes
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
    some_seated: bool  # `seated: some`


@kernel
def next_living(state: Record, player: int) -> int:
    """The next player after `player` in seat order who has a life (`player` when there is no other)."""
    for step in range(1, MAX_PLAYERS + 1):
        other = (player + step) % MAX_PLAYERS
        if state["lives"][other] > 0:
            return other
    return player
