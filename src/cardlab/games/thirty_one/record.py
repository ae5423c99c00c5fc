"""The record of one match of Thirty-One.

Sets of cards are 52-bit integers with bit `card` for each card. The order of the discard pile is not stored: only its
top can be taken, and the next discard covers the pile before the next take.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.thirty_one.hand_scores import HAND_SIZE

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
