"""Exact expected scores of the last placements of Poker Squares."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.array_checks import checked_function
from cardlab.games.cards.deck import NUM_CARDS, Cards, list_unseen
from cardlab.games.cards.hands import CARD_KEYS, Strengths, strength_table
from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.poker_squares.playouts import key_points
from cardlab.games.poker_squares.rules import NUM_CELLS, NUM_LINES, SIDE, Records, Scores
from cardlab.games.protocol import Bools, Floats, InfoStates, Players
from cardlab.games.record_arrays import take

# One kernel for each number of cells: numba's disk cache breaks recursive kernels.
MAX_PLACEMENTS = 4
"""Largest number of empty cells that is solved exactly; one more takes a hundred times as long."""

Numbers = NDArray[np.int64]


@checked_function(PokerSquares)
def solvable(
    info_states: InfoStates,
    players: Players,  # noqa: ARG001  one signature for all games
    options: Mapping[str, Any] | None = None,
) -> Bools:
    """[G] whether `action_values` are exact: a card is face up, and at most MAX_PLACEMENTS cells are empty."""
    left = NUM_CELLS - info_states["turn"]
    return (PokerSquares(**(options or {})).current_player(info_states) >= 0) & (left <= MAX_PLACEMENTS)


@checked_function(PokerSquares)
def action_values(
    info_states: InfoStates,
    players: Players,
    rng: np.random.Generator,  # noqa: ARG001
    num_samples: int,  # noqa: ARG001  exact: enumerates all orders
    options: Mapping[str, Any] | None = None,
) -> Floats:
    """[G, 25] expected final score of each empty cell under optimal later play; else -inf.

    Games that are not `solvable` have -inf everywhere. `options` are the game's options (`GameSpec.options`).
    """
    values = np.full((len(info_states), NUM_CELLS), -np.inf, dtype=np.float32)
    rows = np.flatnonzero(solvable(info_states, players, options))
    values[rows] = _cell_values(strength_table(), take(info_states, rows), PokerSquares(**(options or {})).scores)
    return values


@kernel
def _cell_values(table: Strengths, states: Records, scores: Scores) -> Floats:
    values = np.full((states.shape[0], NUM_CELLS), -np.inf, dtype=np.float32)
    keys, room = np.empty(NUM_LINES, dtype=np.int64), np.empty(NUM_LINES, dtype=np.int64)
    cells, unseen = np.empty(NUM_CELLS, dtype=np.int64), np.empty(NUM_CARDS, dtype=np.int8)
    for g in range(states.shape[0]):
        card = int(np.int64(states[g]["deck"][states[g]["turn"]]))
        count = _read_grid(states[g]["grid"], keys, room, cells)
        left = list_unseen(unseen, states[g]["grid"], states[g]["deck"])
        complete = 0
        for line in range(NUM_LINES):
            complete += key_points(table, keys[line], scores) if room[line] == 0 else 0
        for index in range(count):
            cell = cells[index]
            others = np.delete(cells[:count], index)
            points = float(complete + add_card(table, scores, keys, room, cell, card))
            if count == 2:
                points += expected_last_cell(table, scores, keys, others[0], unseen, left)
            elif count == 3:
                points += expected_two_cells(table, scores, keys, room, others, unseen, left)
            elif count == 4:
                points += expected_three_cells(table, scores, keys, room, others, unseen, left)
            remove_card(keys, room, cell, card)
            values[g, cell] = points
    return values


@kernel
def _read_grid(grid: Cards, keys: Numbers, room: Numbers, cells: Numbers) -> int:
    """Fill the `keys` and `room` [10] of the lines and the empty `cells`; return the number of cells."""
    keys[:] = 0
    room[:] = SIDE
    count = 0
    for cell in range(NUM_CELLS):
        if grid[cell] < 0:
            cells[count] = cell
            count += 1
        else:
            for line in (cell // SIDE, SIDE + cell % SIDE):
                keys[line] += CARD_KEYS[grid[cell]]
                room[line] -= 1
    return count


@kernel
def add_card(table: Strengths, scores: Scores, keys: Numbers, room: Numbers, cell: int, card: int) -> int:
    """Put `card` on `cell` and return the points of the lines that it completes."""
    points = 0
    for line in (cell // SIDE, SIDE + cell % SIDE):
        keys[line] += CARD_KEYS[card]
        room[line] -= 1
        if room[line] == 0:
            points += key_points(table, keys[line], scores)
    return points


@kernel
def remove_card(keys: Numbers, room: Numbers, cell: int, card: int) -> None:
    """Undo `add_card`."""
    for line in (cell // SIDE, SIDE + cell % SIDE):
        keys[line] -= CARD_KEYS[card]
        room[line] += 1


@kernel
def expected_last_cell(table: Strengths, scores: Scores, keys: Numbers, cell: int, unseen: Cards, left: int) -> float:
    """Mean points of the row and the column of `cell` over the last card, one of unseen[0:left]."""
    row, column = keys[cell // SIDE], keys[SIDE + cell % SIDE]
    total = 0
    for drawn in range(left):
        added: Any = CARD_KEYS[unseen[drawn]]
        total += key_points(table, row + added, scores) + key_points(table, column + added, scores)
    return total / left


@kernel
def expected_two_cells(
    table: Strengths, scores: Scores, keys: Numbers, room: Numbers, cells: Numbers, unseen: Cards, left: int
) -> float:
    """Mean over the next card, one of unseen[0:left], of the best expected points with two empty `cells`."""
    total = 0.0
    for drawn in range(left):
        card = int(np.int64(unseen[drawn]))
        unseen[drawn] = unseen[left - 1]
        best = -np.inf
        for place in range(2):
            points = float(add_card(table, scores, keys, room, cells[place], card))
            points += expected_last_cell(table, scores, keys, cells[1 - place], unseen, left - 1)
            remove_card(keys, room, cells[place], card)
            best = max(best, points)
        unseen[drawn] = card
        total += best
    return total / left


@kernel
def expected_three_cells(
    table: Strengths, scores: Scores, keys: Numbers, room: Numbers, cells: Numbers, unseen: Cards, left: int
) -> float:
    """Mean over the next card, one of unseen[0:left], of the best expected points with three empty `cells`."""
    total = 0.0
    others = np.empty(2, dtype=np.int64)
    for drawn in range(left):
        card = int(np.int64(unseen[drawn]))
        unseen[drawn] = unseen[left - 1]
        best = -np.inf
        for place in range(3):
            others[0], others[1] = cells[(place + 1) % 3], cells[(place + 2) % 3]
            points = float(add_card(table, scores, keys, room, cells[place], card))
            points += expected_two_cells(table, scores, keys, room, others, unseen, left - 1)
            remove_card(keys, room, cells[place], card)
            best = max(best, points)
        unseen[drawn] = card
        total += best
    return total / left
