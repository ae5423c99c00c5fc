"""The named blocks of the observation, of the actions and of a critic's extra view, and the kernels that fill them."""

import numpy as np
from numpy.typing import NDArray

from cardlab.cards.deck import NUM_CARDS, NUM_RANKS, NUM_SUITS, UNKNOWN, Cards
from cardlab.games.poker_squares.boards import BOARD, Board, count_line, survey, survey_line
from cardlab.games.poker_squares.lines import LINE_SIZE, encode_line
from cardlab.games.poker_squares.rules import NUM_CELLS, NUM_LINES, SIDE, STATE, Records, Scores, sum_lines
from cardlab.games.protocol import Floats, find_block, layout, width
from cardlab.kernels import kernel

LINES_BLOCKS = layout(
    lines=(NUM_LINES, LINE_SIZE),  # rows, then columns; each as in LINE_BLOCKS
    cells=(NUM_CELLS, 2 + NUM_SUITS),  # [filled, rank / 12, suit one-hot]
    card=(NUM_RANKS + NUM_SUITS + 1,),  # the card turned up: rank one-hot, suit one-hot, known
    unseen_ranks=(NUM_RANKS,),  # copies / 4 neither on the grid nor turned up
    unseen_suits=(NUM_SUITS,),  # cards / 13
    value=(1,),  # of the grid as it stands, in units of twice the lines'
    turn=(1,),  # cards placed / 25
)
SEED_BLOCKS = layout(
    cells=(NUM_CELLS, 3),  # [filled, suit / 3, rank / 12]
    value=(1,),
)
ACTION_BLOCKS = layout(
    row=(LINE_SIZE,),  # after the placement
    column=(LINE_SIZE,),
    row_before=(LINE_SIZE,),  # had the card gone elsewhere
    column_before=(LINE_SIZE,),
)
PRIVILEGED_BLOCKS = layout(coming=(NUM_CARDS,))  # 1 for the hidden cards that will turn up

_LINES_SIZE, _SEED_SIZE, _ACTION_SIZE = width(LINES_BLOCKS), width(SEED_BLOCKS), width(ACTION_BLOCKS)
_CELLS, _CARD, _UNSEEN_RANKS, _UNSEEN_SUITS, _VALUE, _TURN = (
    find_block(LINES_BLOCKS, name).start for name in ("cells", "card", "unseen_ranks", "unseen_suits", "value", "turn")
)
_SEED_VALUE = find_block(SEED_BLOCKS, "value").start
_COLUMN, _ROW_BEFORE, _COLUMN_BEFORE = (
    find_block(ACTION_BLOCKS, name).start for name in ("column", "row_before", "column_before")
)


@kernel
def observe_lines(states: Records, scores: Scores, unit: float) -> Floats:
    """[G, F] in LINES_BLOCKS; `unit` is the number of points that counts as one."""
    features = np.empty((states.shape[0], _LINES_SIZE), dtype=np.float32)
    board = np.zeros(1, dtype=BOARD)[0]
    for g in range(states.shape[0]):
        out = features[g]
        out[:] = 0
        grid = states[g]["grid"]
        turn = int(states[g]["turn"])
        card = int(states[g]["deck"][turn]) if turn < NUM_CELLS else -1
        survey(board, grid, card)
        value = np.float32(0)
        for line in range(NUM_LINES):
            start = line * LINE_SIZE
            encode_line(board, grid, line, card, scores, unit, out[start : start + LINE_SIZE])
            value += out[start]  # the score comes first
        _encode_cards(board, grid, card, out)
        out[_VALUE] = value / 2
        out[_TURN] = turn / NUM_CELLS
    return features


@kernel
def _encode_cards(board: Board, grid: Cards, card: int, out: Floats) -> None:
    for cell in range(NUM_CELLS):
        placed = int(grid[cell])
        if placed >= 0:
            start = _CELLS + cell * (2 + NUM_SUITS)
            out[start] = 1
            out[start + 1] = (placed >> 2) / 12
            out[start + 2 + (placed & 3)] = 1
    if card >= 0:
        out[_CARD + (card >> 2)] = 1
        out[_CARD + NUM_RANKS + (card & 3)] = 1
        out[_CARD + NUM_RANKS + NUM_SUITS] = 1
    for rank in range(NUM_RANKS):
        out[_UNSEEN_RANKS + rank] = board["unseen_by_rank"][rank] / 4
    for suit in range(NUM_SUITS):
        out[_UNSEEN_SUITS + suit] = board["unseen_by_suit"][suit] / 13


@kernel
def observe_seed(states: Records, scores: Scores, unit: float) -> Floats:
    """[G, 76] in SEED_BLOCKS: the inputs of the seed's network, scaled."""
    features = np.zeros((states.shape[0], _SEED_SIZE), dtype=np.float32)
    values = sum_lines(states, scores, False)
    for g in range(states.shape[0]):
        for cell in range(NUM_CELLS):
            card = states[g]["grid"][cell]
            if card >= 0:
                features[g, 3 * cell] = 1
                features[g, 3 * cell + 1] = (card & 3) / 3
                features[g, 3 * cell + 2] = (card >> 2) / 12
        features[g, _SEED_VALUE] = values[g, 0] / (2 * unit)
    return features


@kernel
def observe_actions(
    states: Records, legal: NDArray[np.bool_], scores: Scores, unit: float
) -> tuple[NDArray[np.intp], NDArray[np.int16], Floats]:
    """Rows [K], actions [K], features [K, Fa] in ACTION_BLOCKS of the True entries of `legal` [G, 25].

    `row` and `column` are those of observe_lines after the placement, with the next card not known.
    """
    num_pairs = int(legal.sum())
    rows = np.empty(num_pairs, dtype=np.intp)
    actions = np.empty(num_pairs, dtype=np.int16)
    features = np.zeros((num_pairs, _ACTION_SIZE), dtype=np.float32)
    board = np.zeros(1, dtype=BOARD)[0]
    grid = np.zeros(1, dtype=STATE)[0]["grid"]  # of the same type as in observe_lines: encode_line is compiled once
    before = np.empty((NUM_LINES, LINE_SIZE), dtype=np.float32)
    unknown = int(np.int64(UNKNOWN))  # a literal would be a type of its own
    k = 0
    for g in range(states.shape[0]):
        turn = int(states[g]["turn"])
        if turn >= NUM_CELLS or states[g]["deck"][turn] < 0:
            continue
        card = int(np.int64(states[g]["deck"][turn]))
        for cell in range(NUM_CELLS):
            grid[cell] = states[g]["grid"][cell]
        survey(board, grid, card)
        before[:] = 0
        for line in range(NUM_LINES):
            encode_line(board, grid, line, unknown, scores, unit, before[line])
        for cell in range(NUM_CELLS):
            if legal[g, cell]:
                rows[k] = g
                actions[k] = cell
                _encode_action(board, grid, cell, card, scores, unit, features[k])
                for index in range(LINE_SIZE):
                    features[k, _ROW_BEFORE + index] = before[cell // SIDE, index]
                    features[k, _COLUMN_BEFORE + index] = before[SIDE + cell % SIDE, index]
                k += 1
    return rows, actions, features


@kernel
def _encode_action(board: Board, grid: Cards, cell: int, card: int, scores: Scores, unit: float, out: Floats) -> None:
    """Fill the first two blocks of `out`; `board` and `grid` are left as they were."""
    row, column = cell // SIDE, SIDE + cell % SIDE
    unknown = int(np.int64(UNKNOWN))
    _put(board, grid, cell, card)
    encode_line(board, grid, row, unknown, scores, unit, out[:LINE_SIZE])
    encode_line(board, grid, column, unknown, scores, unit, out[_COLUMN : _COLUMN + LINE_SIZE])
    _put(board, grid, cell, unknown)


@kernel
def _put(board: Board, grid: Cards, cell: int, card: int) -> None:
    """Change one cell and the survey of its two lines."""
    row, column = cell // SIDE, SIDE + cell % SIDE
    count_line(board, row, -1)
    count_line(board, column, -1)
    grid[cell] = card
    survey_line(board, grid, row)
    survey_line(board, grid, column)
    count_line(board, row, 1)
    count_line(board, column, 1)


@kernel
def show_coming(states: Records) -> Floats:
    """[G, 52] in PRIVILEGED_BLOCKS."""
    coming = np.zeros((states.shape[0], NUM_CARDS), dtype=np.float32)
    for g in range(states.shape[0]):
        for index in range(states[g]["turn"] + 1, NUM_CELLS):
            card = states[g]["deck"][index]
            if card >= 0:
                coming[g, card] = 1
    return coming
