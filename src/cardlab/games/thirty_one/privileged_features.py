"""Hidden information for a critic: the opponents' hands and the next cards of the stock.

Suits are in the order of the observation `table`.
"""

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Floats, Players, layout, width
from cardlab.games.thirty_one.hand_scores import HAND_SIZE
from cardlab.games.thirty_one.observation import write_card
from cardlab.games.thirty_one.record import MAX_PLAYERS, Records
from cardlab.games.thirty_one.showdown import score_of
from cardlab.games.thirty_one.suit_order import rank_suits, reorder_suits, suit_columns
from cardlab.games.thirty_one.unseen_cards import add_suit_sums, seats_by_distance

NUM_NEXT_CARDS = 3

PRIVILEGED_BLOCKS = layout(
    scores=(MAX_PLAYERS - 1,),  # of the opponents by distance / 31
    hand_sums=(MAX_PLAYERS - 1, 4),  # their suit sums / 31
    margin=(1,),  # own score less the lowest score of the opponents / 31
    next_cards=(NUM_NEXT_CARDS, 4),  # of the stock, value / 11 in the suit's slot
    pending=(4,),  # the drawn card, of any player
)
NUM_PRIVILEGED = width(PRIVILEGED_BLOCKS)
SUIT_COLUMNS = suit_columns(PRIVILEGED_BLOCKS)


@kernel
def observe_privileged(states: Records, players: Players) -> Floats:
    """[G, Fp] features in the blocks of `PRIVILEGED_BLOCKS`."""
    features = np.zeros((states.shape[0], NUM_PRIVILEGED), dtype=np.float32)
    seats = np.empty(MAX_PLAYERS, dtype=np.int64)
    order = np.empty(4, dtype=np.int64)
    others = MAX_PLAYERS - 1
    for g in range(states.shape[0]):
        state = states[g]
        row = features[g]
        living = seats_by_distance(state, players[g], seats)
        lowest = 31 if living > 1 else 0
        for i in range(living - 1):
            score = score_of(state, seats[i + 1])
            lowest = min(lowest, score)
            row[i] = score / 31
            at = others + 4 * i
            add_suit_sums(state["hands"][seats[i + 1]], HAND_SIZE, row[at : at + 4], 1 / 31)
        row[5 * others] = (score_of(state, players[g]) - lowest) / 31
        left = state["stock_left"]
        for i in range(min(NUM_NEXT_CARDS, left)):
            write_card(state["stock"][left - 1 - i], row, 5 * others + 1 + 4 * i, 1 / 11)
        write_card(state["drawn"], row, NUM_PRIVILEGED - 4, 1 / 11)
        rank_suits(state, players[g], order)
        reorder_suits(row, SUIT_COLUMNS, order)
    return features
