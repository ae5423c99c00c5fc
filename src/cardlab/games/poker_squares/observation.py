"""The named blocks of the observation, of the actions and of a critic's extra view, and the kernels that fill them."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, NUM_RANKS, NUM_SUITS, UNKNOWN, Cards
from cardlab.games.poker_squares.line_features import LINE_SIZE, encode_line
from cardlab.games.poker_squares.line_statistics import BOARD, Board, change_cell, survey
from cardlab.games.poker_squares.rules import NUM_CELLS, NUM_LINES, SIDE, STATE, Records, Scores, sum_lines
from cardlab.games.poker_squares.sparse_lines import CODES_A_LINE
from cardlab.games.poker_squares.sparse_rollouts import Desk, code_lines, lay_out, set_desk
from cardlab.games.protocol import Floats, find_block, layout, width

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
CODES_BLOCKS = layout(
    codes=(NUM_LINES, CODES_A_LINE),  # of each line (codes.py); -1 where it is complete
    settled=(1,),  # points of complete lines, in units of the payoff scale
)
ACTION_BLOCKS = layout(
    row=(LINE_SIZE,),  # after the placement
    column=(LINE_SIZE,),
    row_before=(LINE_SIZE,),  # had the card gone elsewhere
    column_before=(LINE_SIZE,),
)
PRIVILEGED_BLOCKS = layout(coming=(NUM_CARDS,))  # 1 for the hidden cards that will turn up

_CODES_SIZE = width(CODES_BLOCKS)
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
def observe_codes(states: Records, scores: Scores, unit: float) -> Floats:
    """[G, F] in CODES_BLOCKS; `unit` is the number of points that counts as one. The card turned up is in no line.

    Where none is turned up the last one was just placed: that is told as observe_placements tells it, as far as the
    other lines are concerned with what they know of its two lines.
    """
    features = np.empty((states.shape[0], _CODES_SIZE), dtype=np.float32)
    desk = set_desk(0)
    for g in range(states.shape[0]):
        turn = int(states[g]["turn"])
        card = int(np.int64(states[g]["deck"][turn])) if turn < NUM_CELLS else -1
        lay_out(desk, states[g]["grid"], card)
        code_lines(desk, card, turn if card >= 0 else max(turn - 1, 0), scores)
        _tell(desk, -1, unit, features[g])
    return features


@kernel
def observe_placements(states: Records, cells: NDArray[np.int16], scores: Scores, unit: float) -> Floats:
    """[G, F] in CODES_BLOCKS with the card turned up on `cells` [G]: the other lines as they were before it."""
    features = np.empty((states.shape[0], _CODES_SIZE), dtype=np.float32)
    desk = set_desk(0)
    for g in range(states.shape[0]):
        turn = int(states[g]["turn"])
        card = int(np.int64(states[g]["deck"][turn]))
        lay_out(desk, states[g]["grid"], card)
        code_lines(desk, card, turn, scores)
        _tell(desk, int(np.int64(cells[g])), unit, features[g])
    return features


@kernel
def _tell(desk: Desk, cell: int, unit: float, out: Floats) -> None:
    """Fill `out` from what lies on the desk, with the card on `cell`; -1: on none."""
    settled = np.float32(0)
    for line in range(NUM_LINES):
        taken = cell >= 0 and line in (cell // SIDE, SIDE + cell % SIDE)
        settled += desk.points[line] + (desk.points_with[line] if taken else np.float32(0))
        num_cards = desk.boards[0]["num_cards"][line] + (1 if taken else 0)
        codes = desk.codes_with[line] if taken else desk.codes[line]
        for k in range(CODES_A_LINE):
            out[line * CODES_A_LINE + k] = codes[k] if num_cards < SIDE else -1
    out[_CODES_SIZE - 1] = settled / unit


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
    change_cell(board, grid, cell, card)
    encode_line(board, grid, row, unknown, scores, unit, out[:LINE_SIZE])
    encode_line(board, grid, column, unknown, scores, unit, out[_COLUMN : _COLUMN + LINE_SIZE])
    change_cell(board, grid, cell, unknown)


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
