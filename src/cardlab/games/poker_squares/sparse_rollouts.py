"""Play one step ahead by code values: what the lines are worth as they are, and with the card turned up."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel, sum_kernel
from cardlab.games.cards.deck import Cards
from cardlab.games.fused_rollouts import CodeValues
from cardlab.games.poker_squares.line_statistics import BOARD, Board, change_cell, survey, survey_unseen
from cardlab.games.poker_squares.patterns import best_cell
from cardlab.games.poker_squares.rules import NUM_CELLS, NUM_LINES, SIDE, STATE, Records, Scores, hand_category
from cardlab.games.poker_squares.sparse_lines import CODES_A_LINE, Codes, code_line, crossings
from cardlab.games.protocol import Floats


class Desk(NamedTuple):
    """What a placement is worked out on."""

    boards: NDArray[np.void]  # [1] of BOARD: kernels hand out arrays, not records
    states: Records  # [1] whose grid it is
    codes: NDArray[np.int64]  # [10, 18] of the lines that are not complete, without the card turned up
    codes_with: NDArray[np.int64]  # [10, 18] with it, where it does not complete the line
    points: Floats  # [10] of complete lines; else 0
    points_with: Floats  # [10] of those that the card would complete; else 0
    hidden: Floats  # [H]


@kernel
def set_desk(width: int) -> Desk:
    """An empty desk for vectors of `width`."""
    return Desk(
        np.zeros(1, dtype=BOARD),
        np.zeros(1, dtype=STATE),
        np.empty((NUM_LINES, CODES_A_LINE), dtype=np.int64),
        np.empty((NUM_LINES, CODES_A_LINE), dtype=np.int64),
        np.empty(NUM_LINES, dtype=np.float32),
        np.empty(NUM_LINES, dtype=np.float32),
        np.empty(width, dtype=np.float32),
    )


@kernel
def lay_out(desk: Desk, grid: Cards, card: int) -> None:
    """Put a grid on the desk, with `card` turned up (-1: none)."""
    for cell in range(NUM_CELLS):
        desk.states[0]["grid"][cell] = grid[cell]
    survey(desk.boards[0], desk.states[0]["grid"], card)


@kernel
def told_of(board: Board, line: int, card: int) -> tuple[int, int, int, int, int]:
    """What scan_line tells of a line of `board` with `card` in it; −1: as it is."""
    num_cards, ranks = np.int64(board["num_cards"][line]), np.int64(board["ranks"][line])
    suits, counts = np.int64(board["suits"][line]), np.int64(board["counts"][line])
    pairs = np.int64(board["pairs"][line])
    if card >= 0:
        rank = card >> 2
        pairs += (counts >> (4 * rank)) & 15
        counts += 1 << (4 * rank)
        ranks |= 1 << rank
        suits |= 1 << (card & 3)
        num_cards += 1
    return int(num_cards), int(ranks), int(suits), int(counts), int(pairs)


@kernel
def code_lines(desk: Desk, card: int, turn: int, scores: Scores) -> None:
    """Write the codes and the points of all lines, with `turn` cards on the grid and `card` turned up (-1: none)."""
    board, grid = desk.boards[0], desk.states[0]["grid"]
    for line in range(NUM_LINES):
        desk.points[line] = desk.points_with[line] = 0
        told = told_of(board, line, -1)
        if told[0] == SIDE:
            desk.points[line] = np.int64(scores[hand_category(SIDE, told[1], told[2], told[4])])
            continue
        crossing, crossing_with = crossings(board, grid, line, max(card, 0) >> 2)
        code_line(board, line, told, turn, crossing, desk.codes[line])
        if card < 0:
            continue
        told = told_of(board, line, card)
        if told[0] == SIDE:
            desk.points_with[line] = np.int64(scores[hand_category(SIDE, told[1], told[2], told[4])])
        else:
            code_line(board, line, told, turn, crossing_with, desk.codes_with[line])


@sum_kernel
def line_worth(desk: Desk, values: CodeValues, codes: Codes) -> float:
    """Weights · relu(Σ vectors) of one line; vectors are added three at a time, which spares writes between."""
    hidden, vectors, weights = desk.hidden, values.vectors, values.weights
    hidden[:] = 0
    for start in range(0, CODES_A_LINE, 3):  # a multiple of 3: tests/games/poker_squares/test_codes.py
        one, two, three = vectors[codes[start]], vectors[codes[start + 1]], vectors[codes[start + 2]]
        for k in range(len(hidden)):
            hidden[k] += one[k] + two[k] + three[k]
    total = np.float32(0)
    for k in range(len(hidden)):
        total += max(hidden[k], np.float32(0)) * weights[k]
    return float(total)


@kernel
def gains_of_lines(desk: Desk, values: CodeValues, unit: float, gains: Floats) -> float:
    """[10] what the card adds to each line's worth, and the worth of all without it, in units of so many points."""
    base = np.float64(0)
    board = desk.boards[0]
    for line in range(NUM_LINES):
        num_cards = board["num_cards"][line]
        if num_cards == SIDE:
            base += desk.points[line] / unit
            continue
        before = line_worth(desk, values, desk.codes[line])
        base += before
        if num_cards == SIDE - 1:
            gains[line] = desk.points_with[line] / unit - before
        else:
            gains[line] = line_worth(desk, values, desk.codes_with[line]) - before
    return float(base)


@kernel
def cell_worths(states: Records, values: CodeValues, scores: Scores, unit: float) -> Floats:
    """[G, 25] worth of each cell for the card turned up, in units of so many points; minus infinity on taken ones."""
    worths = np.full((states.shape[0], NUM_CELLS), -np.inf, dtype=np.float32)
    desk = set_desk(len(values.weights))
    gains = np.empty(NUM_LINES, dtype=np.float32)
    for g in range(states.shape[0]):
        turn = int(states[g]["turn"])
        if turn >= NUM_CELLS or states[g]["deck"][turn] < 0:
            continue
        card = int(np.int64(states[g]["deck"][turn]))
        grid = states[g]["grid"]
        lay_out(desk, grid, card)
        code_lines(desk, card, turn, scores)
        base = gains_of_lines(desk, values, unit, gains)
        for cell in range(NUM_CELLS):
            if grid[cell] < 0:
                row, column = cell // SIDE, SIDE + cell % SIDE
                worths[g, cell] = base + gains[row] + gains[column]
    return worths


@kernel
def finish_by_codes(states: Records, values: CodeValues, scores: Scores, unit: float) -> Floats:
    """[G, 1] scores when every card goes to the cell of most worth then."""
    totals = np.empty((states.shape[0], 1), dtype=np.float32)
    desk = set_desk(len(values.weights))
    gains = np.empty(NUM_LINES, dtype=np.float32)
    for g in range(states.shape[0]):
        board, grid = desk.boards[0], desk.states[0]["grid"]
        first = int(states[g]["turn"])
        lay_out(desk, states[g]["grid"], -1)
        for turn in range(first, NUM_CELLS):
            card = int(np.int64(states[g]["deck"][turn]))
            survey_unseen(board, grid, card)
            code_lines(desk, card, turn, scores)
            gains_of_lines(desk, values, unit, gains)
            change_cell(board, grid, best_cell(grid, gains), card)
        total = 0
        for line in range(NUM_LINES):
            told = told_of(board, line, -1)
            total += np.int64(scores[hand_category(SIDE, told[1], told[2], told[4])])
        totals[g, 0] = total
    return totals
