"""The observation `opponent_statistics`: `table`, and statistics of each opponent's actions in the match so far.

Over several rounds they reveal an agent that never takes a discard or that calls at a fixed score.
"""

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Block, Floats, Players, layout, width
from cardlab.games.thirty_one.hand_scores import BEST_SCORE
from cardlab.games.thirty_one.observation import BLOCKS
from cardlab.games.thirty_one.record import MAX_PLAYERS, Records
from cardlab.games.thirty_one.unseen_cards import seats_by_distance

_FULL_EVIDENCE_TURNS = 20
_OTHERS = MAX_PLAYERS - 1

_OWN_BLOCKS = layout(
    take_shares=(_OTHERS,),  # (takes + 1) / (takes and draws + 2), by distance
    evidence=(_OTHERS,),  # takes and draws / 20, at most 1, by distance
    call_shares=(_OTHERS,),  # calls / rounds so far, by distance
    call_scores=(_OTHERS,),  # mean score at the showdown after a call / 31, by distance; 0 before the first
)
OPPONENT_STATISTICS_BLOCKS = (
    *BLOCKS,
    *(Block(block.name, block.start + width(BLOCKS), block.shape) for block in _OWN_BLOCKS),
)


def observe_opponent_statistics(table: Floats, info_states: Records, players: Players) -> Floats:
    """[G, F] the observations `table`, followed by the statistics of each opponent."""
    return np.concatenate([table, _opponent_statistics(info_states, players)], axis=1)


@kernel
def _opponent_statistics(info_states: Records, players: Players) -> Floats:
    rows = np.zeros((info_states.shape[0], 4 * _OTHERS), dtype=np.float32)
    seats = np.empty(MAX_PLAYERS, dtype=np.int64)
    for g in range(info_states.shape[0]):
        state = info_states[g]
        row = rows[g]
        living = seats_by_distance(state, players[g], seats)
        for i in range(living - 1):
            seat = seats[i + 1]
            takes, draws, calls = int(state["takes"][seat]), int(state["draws"][seat]), int(state["calls"][seat])
            row[i] = (takes + 1) / (takes + draws + 2)
            row[_OTHERS + i] = min((takes + draws) / _FULL_EVIDENCE_TURNS, 1.0)
            row[2 * _OTHERS + i] = calls / state["round"]
            if calls > (state["caller"] == seat):
                row[3 * _OTHERS + i] = state["call_scores"][seat] / (BEST_SCORE * (calls - (state["caller"] == seat)))
    return rows
