"""Features of each legal action, for networks that score actions: the cards played and kept, and plans for the rest."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import ACTION_POSITIONS, ACTION_SIZES, KIND_SIZES, PASS, classify, strength
from cardlab.games.big2.plans import (
    NUM_DEALS,
    NUM_OTHERS,
    NUM_SUBSETS,
    action_bits,
    better_hand_share,
    plan,
    play_strength,
    sample_best_hands,
)
from cardlab.games.big2.rules import HIDDEN, NUM_PLAYERS, list_hand
from cardlab.games.protocol import Actions, Floats, InfoStates, find_block, layout, width

ACTION_BLOCKS = layout(
    cards=(52,),  # played
    kind=(10,),  # single … straight flush, pass
    strength=(1,),  # of the deciding card, (0, 1]; 0 for a pass
    higher_unseen=(1,),  # share of the unseen cards above the deciding card
    splits=(1,),  # ranks of which some cards are played and some are kept, over 5
    left=(14,),  # number of cards kept, one-hot, 0 to 13
    left_ranks=(13,),  # number kept of each rank, over 4
    left_suits=(4,),  # number kept of each suit, over 13
    left_groups=(4,),  # ranks with one, two, three and four cards kept, over 13
    left_straights=(9,),  # whether a straight is kept, by its lowest rank
)

PLAN_BLOCKS = layout(
    better_held=(4,),  # probability that the next player, the one across, the previous one, any has a better hand
    plays_left=(9,),  # fewest plays that shed the rest, one-hot, 0 to 8 or more
    plays_added=(1,),  # `plays_left` and this play, less the fewest plays of the whole hand, / 4
    risk_left=(2,),  # least sum of risks of the plays that shed the rest / 4: of all plays, and without the last
    risk_added=(1,),  # risk of this play and the rest, without the last play, less that of the whole hand, / 4
    wins=(1,),  # no opponent has a better hand in any deal, now or in later plays
)
_, _KIND, _STRENGTH, _HIGHER_UNSEEN, _SPLITS, _LEFT, _LEFT_RANKS, _LEFT_SUITS, _LEFT_GROUPS, _LEFT_STRAIGHTS = (
    block.start for block in ACTION_BLOCKS
)
_HELD, _PLAYS_LEFT, _PLAYS_ADDED, _RISK, _RISK_ADDED, _WINS = (block.start for block in PLAN_BLOCKS)
_WIDTH, _PLANS_WIDTH = width(ACTION_BLOCKS), width(PLAN_BLOCKS)
_MAX_PLAYS = find_block(PLAN_BLOCKS, "plays_left").size - 1

BLOCKS_WITH_PLANS = layout(**{block.name: block.shape for block in (*ACTION_BLOCKS, *PLAN_BLOCKS)})


@kernel
def describe_actions(info_states: InfoStates, rows: NDArray[np.intp], actions: Actions) -> Floats:
    """[K, Fa] features of the actions [K] of the players to move in `rows` [K] (ascending)."""
    out = np.zeros((rows.shape[0], _WIDTH), dtype=np.float32)
    hand = np.empty(14, dtype=np.int8)
    cards = np.empty(5, dtype=np.int8)
    ranks = np.empty(13, dtype=np.int64)
    suits = np.empty(4, dtype=np.int64)
    above = np.empty(52, dtype=np.float32)
    seen = -1
    count = 0
    for k in range(rows.shape[0]):
        if rows[k] != seen:
            seen = rows[k]
            state = info_states[seen]
            count = list_hand(state["place"], (int(state["opener"]) + int(state["moves"])) % 4, hand)
            _share_above(state["place"], above)
        size = int(ACTION_SIZES[actions[k]])
        for index in range(size):
            cards[index] = hand[ACTION_POSITIONS[actions[k], index]]
        _write_played(cards, size, above, out[k])
        _write_left(hand, count, cards, size, ranks, suits, out[k])
    return out


@kernel
def _share_above(place: NDArray[np.uint8], above: NDArray[np.float32]) -> None:
    """Fill `above` [52] with the share of the hidden cards above each card."""
    hidden = 0
    for card in range(51, -1, -1):
        above[card] = hidden
        hidden += place[card] == HIDDEN
    for card in range(52):
        above[card] /= max(hidden, 1)


@kernel
def _write_played(cards: NDArray[np.int8], size: int, above: NDArray[np.float32], row: NDArray[np.float32]) -> None:
    if size == 0:
        row[_KIND + 9] = 1
        return
    for index in range(size):
        row[cards[index]] = 1
    kind, key = classify(cards, size)
    row[_KIND + kind] = 1
    row[_STRENGTH] = (key + 1) / 52
    row[_HIGHER_UNSEEN] = above[key]


@kernel
def _write_left(
    hand: NDArray[np.int8],
    count: int,
    cards: NDArray[np.int8],
    size: int,
    ranks: NDArray[np.int64],
    suits: NDArray[np.int64],
    row: NDArray[np.float32],
) -> None:
    ranks[:] = 0
    suits[:] = 0
    for position in range(count):
        ranks[hand[position] >> 2] += 1
        suits[hand[position] & 3] += 1
    for index in range(size):
        ranks[cards[index] >> 2] -= 1
        suits[cards[index] & 3] -= 1
    for index in range(size):
        rank = cards[index] >> 2
        if ranks[rank] > 0 and (index == 0 or cards[index - 1] >> 2 != rank):
            row[_SPLITS] += np.float32(0.2)
    row[_LEFT + count - size] = 1
    run = 0
    for rank in range(13):
        row[_LEFT_RANKS + rank] = ranks[rank] / 4
        run = run + 1 if ranks[rank] > 0 else 0
        if ranks[rank] > 0:
            row[_LEFT_GROUPS + ranks[rank] - 1] += np.float32(1 / 13)
        if run >= 5:
            row[_LEFT_STRAIGHTS + rank - 4] = 1
    for suit in range(4):
        row[_LEFT_SUITS + suit] = suits[suit] / 13


@kernel
def describe_plans(info_states: InfoStates, rows: NDArray[np.intp], actions: Actions) -> Floats:
    """[K, W] features in PLAN_BLOCKS of the actions [K] of the players to move in `rows` [K] (ascending)."""
    out = np.zeros((rows.shape[0], _PLANS_WIDTH), dtype=np.float32)
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
        row[_PLAYS_LEFT + min(int(fewest[left]), _MAX_PLAYS)] = 1
        row[_PLAYS_ADDED] = (fewest[left] + (action != PASS) - fewest[whole]) / 4
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
