"""Thirty-One: number of rounds, kinds of actions, and final standing of the players."""

import numpy as np

from cardlab.games.abilities import OutcomeCounts, one_hot
from cardlab.games.protocol import States
from cardlab.games.thirty_one.record import CALL, KEEP_HAND, NUM_ACTIONS, SWAP_FIRST, TAKE

ACTION_NAMES = ("draw", "take", "call", "swap", "keep the hand")
ACTION_GROUPS = np.zeros(NUM_ACTIONS, dtype=np.int8)
ACTION_GROUPS[[TAKE, CALL]] = 1, 2
ACTION_GROUPS[SWAP_FIRST:KEEP_HAND] = 3
ACTION_GROUPS[KEEP_HAND] = 4

_MAX_ROUNDS = 12
_MAX_LIVES = 3


def read(states: States) -> list[OutcomeCounts]:
    """Outcomes of finished matches [G]."""
    rounds = one_hot(states["round"] - 1, _MAX_ROUNDS)
    lives = one_hot(states["lives"], _MAX_LIVES + 1)
    names = tuple(map(str, range(1, _MAX_ROUNDS)))
    return [
        OutcomeCounts(
            "rounds in a match", (*names, f"{_MAX_ROUNDS} or more"), np.repeat(rounds[:, None], lives.shape[1], 1)
        ),
        OutcomeCounts("lives left", ("0", "1", "2", f"{_MAX_LIVES} or more"), lives),
    ]
