"""The observations `paper` and `opponent_statistics`.

`paper` are the 46 inputs of the paper's action network, with unscaled card values. The paper's swap network sees 32 of
them (conf/network/thirty_one/paper.yaml). In a swap decision `card` is the card that was drawn or taken.

`opponent_statistics` are `table` and statistics of each opponent's actions in the match so far. Over several rounds
they reveal an agent that never takes a discard or that calls at a fixed score.
"""

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Block, Floats, Players, layout, width
from cardlab.games.thirty_one.observation import BLOCKS, write_card, write_expected
from cardlab.games.thirty_one.record import BEST_SCORE, HAND_SIZE, MAX_PLAYERS, SWAP, Record, Records
from cardlab.games.thirty_one.unseen_cards import NUM_VALUES, count_cards, drawable_cards, seats_by_distance

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


PAPER_BLOCKS = layout(
    hand=(HAND_SIZE, 4),  # value in the suit's slot
    card=(4,),  # the top of the discard pile; in a swap decision the pending card
    expected_values=(4,),  # of a card from the stock, in its suit's slot
    first_turn=(1,),
    called=(1,),  # the caller's seat, -1 before a call
    left=(HAND_SIZE, 4),  # known cards of the left neighbour, who moves next
    right=(HAND_SIZE, 4),
)
NUM_PAPER_FEATURES = width(PAPER_BLOCKS)


@kernel
def observe_paper(info_states: Records, players: Players) -> Floats:
    """[G, 46] observations in the blocks of `PAPER_BLOCKS`."""
    features = np.zeros((info_states.shape[0], NUM_PAPER_FEATURES), dtype=np.float32)
    seats = np.empty(MAX_PLAYERS, dtype=np.int64)
    counts = np.empty((4, NUM_VALUES), dtype=np.int64)
    for g in range(info_states.shape[0]):
        state = info_states[g]
        row = features[g]
        living = seats_by_distance(state, players[g], seats)
        _write_cards(state, players[g], row, 0)
        pending = state["phase"] == SWAP and state["player"] == players[g]
        write_card(state["drawn"] if pending else state["top"], row, 12, 1.0)
        total = count_cards(drawable_cards(state), counts)
        if total > 0:
            write_expected(row, 16, counts, total, 1.0)
        row[20] = state["turns"] == 0
        row[21] = state["caller"]
        if living >= 2:
            _write_cards(state, seats[1], row, 22)
            _write_cards(state, seats[living - 1], row, 34)
    return features


@kernel
def _write_cards(state: Record, player: int, row: Floats, at: int) -> None:
    for i in range(HAND_SIZE):
        write_card(state["hands"][player, i], row, at + 4 * i, 1.0)
