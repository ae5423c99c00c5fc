"""Features of each legal action and its result, for networks that score encoded actions.

Suits are in the order of the observation `table`.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Actions, Floats, Players, layout, width
from cardlab.games.thirty_one.actions import CALL, DRAW, KEEP_HAND, NUM_ACTIONS, SWAP_FIRST, TAKE
from cardlab.games.thirty_one.hand_scores import BEST_SCORE, HAND_SIZE, card_value, score_after_swap, suit_of
from cardlab.games.thirty_one.observation import write_card
from cardlab.games.thirty_one.record import Record, Records, next_living
from cardlab.games.thirty_one.rules import mark_legal
from cardlab.games.thirty_one.showdown import score_of
from cardlab.games.thirty_one.suit_order import rank_suits, reorder_suits, suit_columns
from cardlab.games.thirty_one.unseen_cards import (
    LOW_VALUE,
    NUM_VALUES,
    Counts,
    add_suit_sums,
    count_cards,
    drawable_cards,
    kept_suit_sum,
)

ACTION_BLOCKS = layout(
    action=(NUM_ACTIONS,),  # one-hot
    score=(1,),  # after this turn / 31; for a draw the expected score after the best swap
    gain=(1,),  # difference to the current score / 11
    best=(1,),  # whether the score is 31; for a draw the probability
    suit_sums=(4,),  # of the hand after a swap, of the current hand for draw, take and call / 31
    left_discard=(4,),  # the card that a swap discards: value / 11 in its suit's slot
    helps_next=(1,),  # highest score of the discard with the next player's known cards / 31
    helps_gain=(1,),  # difference of `helps_next` to the score of the known cards alone / 11
    ends_round=(1,),  # the call of the first turn
    called=(1,),  # a player has called, or this action calls
)
NUM_ACTION_FEATURES = width(ACTION_BLOCKS)
SUIT_COLUMNS = suit_columns(ACTION_BLOCKS)


@kernel
def encode_actions(info_states: Records, players: Players) -> tuple[NDArray[np.intp], Actions, Floats]:
    """Rows [K], actions [K], features [K, Fa] of the legal actions, by row, then action."""
    legal = mark_legal(info_states)
    total = legal.sum()
    rows = np.empty(total, dtype=np.intp)
    actions = np.empty(total, dtype=np.int16)
    features = np.zeros((total, NUM_ACTION_FEATURES), dtype=np.float32)
    counts = np.empty((4, NUM_VALUES), dtype=np.int64)
    order = np.empty(4, dtype=np.int64)
    k = 0
    for g in range(legal.shape[0]):
        rank_suits(info_states[g], players[g], order)
        for action in range(NUM_ACTIONS):
            if legal[g, action]:
                rows[k] = g
                actions[k] = action
                _encode(info_states[g], players[g], action, features[k], counts)
                reorder_suits(features[k], SUIT_COLUMNS, order)
                k += 1
    return rows, actions, features


@kernel
def _encode(state: Record, owner: int, action: int, row: Floats, counts: Counts) -> None:
    hand = state["hands"][owner]
    score = score_of(state, owner)
    row[action] = 1.0
    at = NUM_ACTIONS
    if action == DRAW:
        _encode_draw(state, owner, row, at, counts)
    else:
        new_score = score
        if action == TAKE:
            new_score = 0
            for position in range(HAND_SIZE):
                new_score = max(new_score, score_after_swap(hand, position, state["top"]))
        elif action != CALL:
            new_score = score_after_swap(hand, action - SWAP_FIRST, state["drawn"])
        row[at] = new_score / 31
        row[at + 1] = (new_score - score) / 11
        row[at + 2] = new_score == BEST_SCORE
    at += 3
    add_suit_sums(hand, action - SWAP_FIRST if action >= SWAP_FIRST else HAND_SIZE, row[at : at + 4], 1 / 31)
    if action >= SWAP_FIRST:
        _encode_discard(state, owner, action, row, at)
    row[at + 10] = action == CALL and state["turns"] == 0
    row[at + 11] = action == CALL or state["caller"] >= 0


@kernel
def _encode_discard(state: Record, owner: int, action: int, row: Floats, at: int) -> None:
    """Add the pending card to the suit sums; write the blocks from `left_discard` to `helps_gain`."""
    discard = state["drawn"]
    if action != KEEP_HAND:
        if discard >= 0:
            row[at + suit_of(discard)] += card_value(discard) / 31
        discard = state["hands"][owner, action - SWAP_FIRST]
    write_card(discard, row, at + 4, 1 / 11)
    if discard >= 0:
        next_player = next_living(state, owner)
        known = score_of(state, next_player)
        helped_score = max(known, kept_suit_sum(state["hands"][next_player], suit_of(discard)) + card_value(discard))
        row[at + 8] = helped_score / 31
        row[at + 9] = (helped_score - known) / 11


@kernel
def _encode_draw(state: Record, owner: int, row: Floats, at: int, counts: Counts) -> None:
    """Write the expected `score`, `gain` and `best` of drawing a card."""
    total = count_cards(drawable_cards(state), counts)
    score = score_of(state, owner)
    for suit in range(4):
        beside = kept_suit_sum(state["hands"][owner], suit)
        for value in range(NUM_VALUES):
            probability = counts[suit, value] / max(total, 1)
            new_score = max(score, beside + value + LOW_VALUE)
            row[at] += probability * new_score / 31
            row[at + 1] += probability * (new_score - score) / 11
            row[at + 2] += probability * (new_score == BEST_SCORE)
