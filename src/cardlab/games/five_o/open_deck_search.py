"""Alpha-beta search of Five-O with a face-up deck; leaves have the values of the paper's program.

One search knows the order of the deck; the agent averages over many orders (section II.B.3). The search keeps its own
stack, one level per card, because numba's disk cache breaks recursive kernels.
"""

import math

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.hands import CARD_KEYS, MAX_STRENGTH, Strengths, strength_table
from cardlab.games.five_o.hand_values import NUM_COUNTS, count_seen, count_unseen, rank_mask
from cardlab.games.five_o.paper_values import EVAL, PACK_EXPECT, PACK_SPAN, draws_after, hand_value
from cardlab.games.five_o.rules import (
    COLUMN_SIZE,
    NUM_COLUMNS,
    NUM_PLAYERS,
    NUM_TURNS,
    TURNS_PER_ROUND,
    Record,
    Records,
)
from cardlab.games.protocol import Players, States

Values = NDArray[np.float64]

MAX_DEPTH = 10  # one round of both players
COLUMN_ORDER = np.array([4, 3, 0, 2, 1])  # in which the paper's program tries the columns
_MARGIN = 0.001  # by which a column at the root may be worse than the best before it is cut off
_HIDDEN_FROM = NUM_TURNS - TURNS_PER_ROUND  # from this turn the opponent's cards stay unseen

SEARCH_BOARD = np.dtype(
    [
        ("keys", np.int64, (NUM_PLAYERS, NUM_COLUMNS)),
        ("masks", np.int64, (NUM_PLAYERS, NUM_COLUMNS)),  # of ranks
        ("sizes", np.int64, (NUM_PLAYERS, NUM_COLUMNS)),
        ("leaf_values", np.float64, (NUM_PLAYERS, NUM_COLUMNS)),  # of the columns
        ("unseen", np.int64, NUM_COUNTS),  # at the leaves
        ("draws", np.int64),  # n of equations (1) and (2) at the leaves
        ("kind", np.int64),  # of hand value: EVAL, FAST_EVAL or PACK_EXPECT
        ("scale", np.float64),  # of the differences of hand values; 0 where their logarithms are summed
        ("depth", np.int64),  # cards placed before the leaves
    ],
    align=True,
)
"""The columns during a search."""

SEARCH_LEVEL = np.dtype(
    [
        ("alpha", np.float64),
        ("beta", np.float64),
        ("side", np.int64),  # player who places the card of this level
        ("full", np.int64),  # size of the columns that cannot take it
        ("place", np.int64),  # index into COLUMN_ORDER of the column that has it; -1 before the first
        ("key", np.int64),  # key of the column without the card
        ("mask", np.int64),
        ("leaf_values", np.float64),
    ],
    align=True,
)


def open_deck_values(
    states: States, players: Players, depth: int, kind: int, *, exact: bool, twice: bool = False
) -> Values:
    """[N, 5] value to `players`, who are to move, of each column for the card, when `depth` cards are placed in turn.

    With `twice` the player places a second card before the opponent moves, one more than `depth` in all. The decks of
    `states` are face up. Full columns have -inf. Without `exact` only values less than 0.001 below the maximum of each
    row are exact; others may be bounds that are lower. `kind` is EVAL, FAST_EVAL or PACK_EXPECT (paper_values.py).
    """
    board, levels = np.zeros(1, SEARCH_BOARD), np.zeros(MAX_DEPTH + 2, SEARCH_LEVEL)
    return _search_decks(strength_table(), states, players, (depth, kind, exact, twice), board, levels)


@kernel
def _search_decks(
    table: Strengths,
    states: Records,
    players: Players,
    options: tuple[int, int, bool, bool],
    boards: Records,
    levels: Records,
) -> Values:
    values = np.full((states.shape[0], NUM_COLUMNS), -np.inf)
    depth, kind, exact, twice = options
    for n in range(states.shape[0]):
        player = int(np.int64(players[n]))
        boards[0]["kind"] = kind
        _plan_levels(states[n], player, depth, twice, boards[0], levels)
        _load_board(table, states[n], player, boards[0], levels)
        _search(table, states[n], player, exact, boards[0], levels, values[n])
    return values


@kernel
def _plan_levels(state: Record, player: int, depth: int, twice: bool, board: Record, levels: Records) -> None:
    """Set who places the card of each level, and how many cards are placed: as many as both players have room for."""
    sizes = np.zeros(NUM_PLAYERS, dtype=np.int64)
    for side in range(NUM_PLAYERS):
        for column in range(NUM_COLUMNS):
            sizes[side] += state["sizes"][side, column]
    level, side = 0, player
    last = min(depth + twice, NUM_TURNS - np.int64(state["turn"]))
    while level < last and sizes[side] < NUM_COLUMNS * COLUMN_SIZE:
        levels[level]["side"] = side
        levels[level]["full"] = sizes[side] // NUM_COLUMNS + 1
        sizes[side] += 1
        level += 1
        side = player if twice and level == 1 else 1 - side
    board["depth"] = level


@kernel
def _load_board(table: Strengths, state: Record, player: int, board: Record, levels: Records) -> None:
    """Fill `board` from a state with a known deck, with the cards that `player` has not seen at the leaves."""
    turn, depth = np.int64(state["turn"]), np.int64(board["depth"])
    unseen = board["unseen"]
    count_unseen(state, unseen)
    for level in range(1, depth):
        if levels[level]["side"] == player or turn + level < _HIDDEN_FROM:
            count_seen(np.int64(state["deck"][turn + level]), unseen)
    board["draws"] = draws_after(turn + depth)
    board["scale"] = 9.0 / PACK_SPAN if board["kind"] == PACK_EXPECT else 0.0
    if turn + depth == NUM_TURNS:
        board["kind"], board["scale"] = EVAL, 9.0 / (MAX_STRENGTH + 1)
    for side in range(NUM_PLAYERS):
        for column in range(NUM_COLUMNS):
            board["keys"][side, column] = state["keys"][side, column]
            board["masks"][side, column] = rank_mask(state, side, column)
            board["sizes"][side, column] = state["sizes"][side, column]
            board["leaf_values"][side, column] = _column_value(table, board, side, column)


@kernel
def _column_value(table: Strengths, board: Record, side: int, column: int) -> float:
    """Term of a column in the leaf value: the log of its hand value, or the value itself."""
    value = hand_value(
        board["kind"],
        table,
        board["keys"][side, column],
        board["masks"][side, column],
        board["sizes"][side, column],
        board["unseen"],
        board["draws"],
    )
    return value if board["scale"] else math.log(value)


@kernel
def _leaf_value(board: Record, player: int) -> float:
    """Leaf value for `player`: a sum of log ratios (greedyEval2), or of exp(tanh(scale * difference))."""
    total = 0.0
    for column in range(NUM_COLUMNS):
        margin = board["leaf_values"][player, column] - board["leaf_values"][1 - player, column]
        total += math.exp(math.tanh(board["scale"] * margin)) if board["scale"] else margin
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
            if here["place"] >= 0:
                _undo_placement(board, here)
            card = int(np.int64(state["deck"][turn + level]))
            if _place_next(table, board, here, card):
                _open_level(levels[level + 1], here["alpha"], here["beta"])
                level += 1
                continue
        elif level < depth:  # pruned: undo the column tried last
            _undo_placement(board, here)
        value = _leaf_value(board, player)
        if level < depth:
            value = here["alpha"] if here["side"] == player else here["beta"]
        level -= 1
        if level == 0:
            values[COLUMN_ORDER[levels[0]["place"]]] = value
            if not exact:
                levels[0]["alpha"] = max(levels[0]["alpha"], value - _MARGIN)
        elif level > 0 and levels[level]["side"] == player:
            levels[level]["alpha"] = max(levels[level]["alpha"], value)
        elif level > 0:
            levels[level]["beta"] = min(levels[level]["beta"], value)


@kernel
def _open_level(level: Record, alpha: float, beta: float) -> None:
    level["alpha"], level["beta"], level["place"] = alpha, beta, -1


@kernel
def _place_next(table: Strengths, board: Record, level: Record, card: int) -> bool:
    """Put `card` on the next legal column after level["place"]; return False if there is none."""
    side = level["side"]
    place = level["place"] + 1
    while place < NUM_COLUMNS and board["sizes"][side, COLUMN_ORDER[place]] >= level["full"]:
        place += 1
    if place == NUM_COLUMNS:
        return False
    column = int(COLUMN_ORDER[place])
    level["place"] = place
    level["key"] = board["keys"][side, column]
    level["mask"] = board["masks"][side, column]
    level["leaf_values"] = board["leaf_values"][side, column]
    board["keys"][side, column] += CARD_KEYS[card]
    board["masks"][side, column] |= 1 << (card >> 2)
    board["sizes"][side, column] += 1
    board["leaf_values"][side, column] = _column_value(table, board, side, column)
    return True


@kernel
def _undo_placement(board: Record, level: Record) -> None:
    """Undo `_place_next`."""
    side = level["side"]
    column = COLUMN_ORDER[level["place"]]
    board["keys"][side, column] = level["key"]
    board["masks"][side, column] = level["mask"]
    board["sizes"][side, column] -= 1
    board["leaf_values"][side, column] = level["leaf_values"]
