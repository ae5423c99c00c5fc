"""Features of each legal action: the cards played and the cards kept. For networks that score actions."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import ACTION_POSITIONS, ACTION_SIZES
from cardlab.games.big2.combinations import classify
from cardlab.games.big2.rules import HIDDEN, list_hand
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

_KIND = find_block(ACTION_BLOCKS, "kind").start
_STRENGTH = find_block(ACTION_BLOCKS, "strength").start
_HIGHER_UNSEEN = find_block(ACTION_BLOCKS, "higher_unseen").start
_SPLITS = find_block(ACTION_BLOCKS, "splits").start
_LEFT = find_block(ACTION_BLOCKS, "left").start
_LEFT_RANKS = find_block(ACTION_BLOCKS, "left_ranks").start
_LEFT_SUITS = find_block(ACTION_BLOCKS, "left_suits").start
_LEFT_GROUPS = find_block(ACTION_BLOCKS, "left_groups").start
_LEFT_STRAIGHTS = find_block(ACTION_BLOCKS, "left_straights").start
_WIDTH = width(ACTION_BLOCKS)


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
