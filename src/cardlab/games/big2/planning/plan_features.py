"""Features of each legal action: the probability of better opposing hands, and plans for the rest of the hand."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import ACTION_SIZES, PASS
from cardlab.games.big2.combinations import KIND_SIZES, strength
from cardlab.games.big2.planning.holdings import NUM_DEALS, NUM_OTHERS, sample_best_hands
from cardlab.games.big2.planning.plans import NUM_SUBSETS, action_bits, better_hand_share, plan, play_strength
from cardlab.games.big2.rules import NUM_PLAYERS, list_hand
from cardlab.games.protocol import Actions, Floats, InfoStates, find_block, layout, width

PLAN_BLOCKS = layout(
    better_held=(4,),  # probability that the next player, the one across, the previous one, any has a better hand
    plays_left=(9,),  # fewest plays that shed the rest, one-hot, 0 to 8 or more
    plays_added=(1,),  # `plays_left` and this play, less the fewest plays of the whole hand, / 4
    risk_left=(2,),  # least sum of risks of the plays that shed the rest / 4: of all plays, and without the last
    risk_added=(1,),  # risk of this play and the rest, without the last play, less that of the whole hand, / 4
    wins=(1,),  # no opponent has a better hand in any deal, now or in later plays
)
_HELD, _LEFT, _ADDED, _RISK, _RISK_ADDED, _WINS = (block.start for block in PLAN_BLOCKS)
_WIDTH = width(PLAN_BLOCKS)
_MOST_PLAYS = find_block(PLAN_BLOCKS, "plays_left").size - 1
assert [block.name for block in PLAN_BLOCKS][:2] == ["better_held", "plays_left"]


@kernel
def describe_plans(info_states: InfoStates, rows: NDArray[np.intp], actions: Actions) -> Floats:
    """[K, W] features in PLAN_BLOCKS of the actions [K] of the players to move in `rows` [K] (ascending)."""
    out = np.zeros((rows.shape[0], _WIDTH), dtype=np.float32)
    hand = np.empty(14, dtype=np.int8)
    holdings = np.empty((NUM_DEALS, NUM_OTHERS, 6), dtype=np.int16)
    best = np.empty((NUM_DEALS, 6), dtype=np.int16)
    fewest = np.empty(NUM_SUBSETS, dtype=np.int8)
    risk = np.empty(NUM_SUBSETS, dtype=np.float32)
    last = np.empty(NUM_SUBSETS, dtype=np.float32)
    whole = 0
    seen = -1
    for k in range(rows.shape[0]):
        state = info_states[rows[k]]
        if rows[k] != seen:
            seen = rows[k]
            player = (int(state["opener"]) + int(state["moves"])) % NUM_PLAYERS
            count = list_hand(state["place"], player, hand)
            whole = (1 << count) - 1
            sample_best_hands(state["place"], state["counts"], player, holdings)
            _merge(holdings, best)
            plan(hand, count, best, fewest, risk, last)
        action = int(actions[k])
        row = out[k]
        if action != PASS:
            size, value = int(ACTION_SIZES[action]), play_strength(hand, action)
        else:  # the hand to beat stays
            size, value = int(KIND_SIZES[state["kind"]]), strength(int(state["kind"]), int(state["key"]))
        for other in range(NUM_OTHERS):
            row[_HELD + other] = better_hand_share(holdings[:, other], size, value)
        own_risk = better_hand_share(best, size, value)
        row[_HELD + NUM_OTHERS] = own_risk
        left = whole ^ action_bits(action)
        row[_LEFT + min(int(fewest[left]), _MOST_PLAYS)] = 1
        row[_ADDED] = (fewest[left] + (action != PASS) - fewest[whole]) / 4
        row[_RISK], row[_RISK + 1] = risk[left] / 4, last[left] / 4
        if action != PASS:
            added = own_risk + last[left] if left != 0 else np.float32(0)
            row[_RISK_ADDED] = (added - last[whole]) / 4
            row[_WINS] = added == 0
    return out


@kernel
def _merge(holdings: NDArray[np.int16], best: NDArray[np.int16]) -> None:
    """Fill `best` [D, 6] with the maximum over the three opponents of `holdings` [D, 3, 6]."""
    for deal in range(best.shape[0]):
        for size in range(best.shape[1]):
            best[deal, size] = max(holdings[deal, 0, size], holdings[deal, 1, size], holdings[deal, 2, size])
