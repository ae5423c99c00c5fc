"""Alpha-beta search of Five-O with a face-up deck; leaves have the paper's state values.

One search knows the order of the deck; the agent averages over many orders (section II.B.3). The search keeps its own
stack, one level per card, because numba's disk cache breaks recursive kernels.
"""

import math

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.hands import CARD_KEYS, Strengths, strength_table
from cardlab.games.five_o.hand_values import (
    NUM_COUNTS,
    PACK_EXPECT,
    count_seen,
    count_unseen,
    hand_value,
    rank_mask,
)
from cardlab.games.five_o.rules import NUM_COLUMNS, NUM_PLAYERS, NUM_TURNS, Record, Records, round_of
from cardlab.games.protocol import Players, States

Values = NDArray[np.float64]

MAX_DEPTH = 10  # one round of both players
PACK_SPAN = 17  # pack_expect is 1 to 17

SEARCH_BOARD = np.dtype(
    [
        ("keys", np.int64, (NUM_PLAYERS, NUM_COLUMNS)),
        ("masks", np.int64, (NUM_PLAYERS, NUM_COLUMNS)),  # of ranks
        ("sizes", np.int64, (NUM_PLAYERS, NUM_COLUMNS)),
        ("leaf_values", np.float64, (NUM_PLAYERS, NUM_COLUMNS)),  # of the columns
        ("unseen", np.int64, NUM_COUNTS),  # at the leaves
        ("draws", np.int64, NUM_PLAYERS),  # cards that each player draws after the leaves
        ("kind", np.int64),  # of hand value: EVAL, FAST_EVAL or PACK_EXPECT
        ("depth", np.int64),
    ],
    align=True,
)
"""The columns during a search."""

SEARCH_LEVEL = np.dtype(
    [
        ("alpha", np.float64),
        ("beta", np.float64),
        ("column", np.int64),  # column of the card of this level; -1 before the first
        ("key", np.int64),  # key of the column without the card
        ("mask", np.int64),
        ("leaf_values", np.float64),
    ],
    align=True,
)


def open_deck_values(states: States, players: Players, depth: int, kind: int, *, exact: bool) -> Values:
    """[N, 5] value to `players` of each column for the card to place, when both players search `depth` cards ahead.

    The decks of `states` are face up. Full columns have -inf. Without `exact` only the maximum of each row is exact;
    other entries may be bounds that do not exceed it. `kind` is EVAL, FAST_EVAL or PACK_EXPECT (hand_values.py).
    """
    board, levels = np.zeros(1, SEARCH_BOARD), np.zeros(MAX_DEPTH + 1, SEARCH_LEVEL)
    board["kind"], board["depth"] = kind, depth
    return _search_decks(strength_table(), states, players, exact, board, levels)


@kernel
def _search_decks(
    table: Strengths, states: Records, players: Players, exact: bool, boards: Records, levels: Records
) -> Values:
    values = np.full((states.shape[0], NUM_COLUMNS), -np.inf)
    depth = boards[0]["depth"]
    for n in range(states.shape[0]):
        board, state = boards[0], states[n]
        board["depth"] = min(depth, NUM_TURNS - np.int64(state["turn"]))
        _load_board(table, state, board)
        _search(table, state, players[n], exact, board, levels, values[n])
    boards[0]["depth"] = depth
    return values


@kernel
def _load_board(table: Strengths, state: Record, board: Record) -> None:
    """Fill `board` from a state with a known deck, with the cards that are unseen at the leaves."""
    turn = np.int64(state["turn"])
    unseen = board["unseen"]
    count_unseen(state, unseen)
    board["draws"][0] = board["draws"][1] = 0
    for later in range(turn + 1, NUM_TURNS):
        if later < turn + board["depth"]:
            count_seen(np.int64(state["deck"][later]), unseen)
        else:
            board["draws"][later & 1] += 1
    for side in range(NUM_PLAYERS):
        for column in range(NUM_COLUMNS):
            board["keys"][side, column] = state["keys"][side, column]
            board["masks"][side, column] = rank_mask(state, side, column)
            board["sizes"][side, column] = state["sizes"][side, column]
            board["leaf_values"][side, column] = _column_value(table, board, side, column)


@kernel
def _column_value(table: Strengths, board: Record, side: int, column: int) -> float:
    """Term of a column in the leaf value: the log of its hand value, or pack_expect itself."""
    value = hand_value(
        board["kind"],
        table,
        board["keys"][side, column],
        board["masks"][side, column],
        board["sizes"][side, column],
        board["unseen"],
        board["draws"][side],
    )
    return value if board["kind"] == PACK_EXPECT else math.log(value)


@kernel
def _leaf_value(board: Record, player: int) -> float:
    """Leaf value for `player`: greedyEval1 for PACK_EXPECT, else greedyEval2, a sum of log ratios (section II.A.2)."""
    total = 0.0
    for column in range(NUM_COLUMNS):
        margin = board["leaf_values"][player, column] - board["leaf_values"][1 - player, column]
        total += math.exp(math.tanh(9 * margin / PACK_SPAN)) if board["kind"] == PACK_EXPECT else margin
    return total


@kernel
def _search(
    table: Strengths, state: Record, player: int, exact: bool, board: Record, levels: Records, values: Values
) -> None:
    """Set `values` [5] by alpha-beta: `player` maximises, the opponent minimises, each level places one card."""
    turn, depth = int(np.int64(state["turn"])), int(np.int64(board["depth"]))
    _open_level(levels[0], -np.inf, np.inf)
    level = 0
    while level >= 0:
        here = levels[level]
        if level < depth and here["alpha"] < here["beta"]:
            side = (turn + level) & 1
            if here["column"] >= 0:
                _undo_placement(board, here, side)
            card = int(np.int64(state["deck"][turn + level]))
            if _place_next(table, board, here, side, turn + level, card):
                if level == 0 and exact:
                    _open_level(levels[1], -np.inf, np.inf)
                else:
                    _open_level(levels[level + 1], here["alpha"], here["beta"])
                level += 1
                continue
        elif level < depth:  # pruned: undo the column tried last
            _undo_placement(board, here, (turn + level) & 1)
        value = _leaf_value(board, player)
        if level < depth:
            value = here["alpha"] if (turn + level) & 1 == player else here["beta"]
        level -= 1
        if level == 0:
            values[levels[0]["column"]] = value
        if level >= 0 and (turn + level) & 1 == player:
            levels[level]["alpha"] = max(levels[level]["alpha"], value)
        elif level >= 0:
            levels[level]["beta"] = min(levels[level]["beta"], value)


@kernel
def _open_level(level: Record, alpha: float, beta: float) -> None:
    level["alpha"], level["beta"], level["column"] = alpha, beta, -1


@kernel
def _place_next(table: Strengths, board: Record, level: Record, side: int, turn: int, card: int) -> bool:
    """Put `card` on the next legal column after level["column"]; return False if there is none."""
    full = round_of(turn)
    column = level["column"] + 1
    while column < NUM_COLUMNS and board["sizes"][side, column] >= full:
        column += 1
    if column == NUM_COLUMNS:
        return False
    level["column"] = column
    level["key"] = board["keys"][side, column]
    level["mask"] = board["masks"][side, column]
    level["leaf_values"] = board["leaf_values"][side, column]
    board["keys"][side, column] += CARD_KEYS[card]
    board["masks"][side, column] |= 1 << (card >> 2)
    board["sizes"][side, column] += 1
    board["leaf_values"][side, column] = _column_value(table, board, side, column)
    return True


@kernel
def _undo_placement(board: Record, level: Record, side: int) -> None:
    """Undo `_place_next`."""
    column = level["column"]
    board["keys"][side, column] = level["key"]
    board["masks"][side, column] = level["mask"]
    board["sizes"][side, column] -= 1
    board["leaf_values"][side, column] = level["leaf_values"]
