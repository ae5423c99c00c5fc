"""Exact values of Open-face when each player has at most two cards left to place."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.array_checks import checked_function
from cardlab.games.cards.deck import NUM_CARDS, Cards, list_unseen
from cardlab.games.cards.hands import CARD_KEYS, Strengths, front_table, strength_table
from cardlab.games.open_face.game import OpenFace
from cardlab.games.open_face.royalties import row_rank
from cardlab.games.open_face.rules import NUM_DEALT, NUM_ROWS, capacity, score_boards, to_int64
from cardlab.games.protocol import Bools, Floats, InfoStates, Players
from cardlab.games.record_arrays import take

FIRST_STEP = NUM_DEALT - 4
"""First decision at which each player has at most two cards to place."""

_MAX_PLACEMENTS = 2
Numbers = NDArray[np.int64]
Boards = NDArray[np.int32]  # [..., 3] the ranks of the rows of complete boards


@checked_function(OpenFace)
def solvable(
    info_states: InfoStates,
    players: Players,
    options: Mapping[str, Any] | None = None,  # noqa: ARG001  one signature for all games
) -> Bools:
    """[G] whether `action_values` are exact: `players` are to move, and each player has at most two cards left."""
    return (info_states["step"] >= FIRST_STEP) & (info_states["mover"] == players)


@checked_function(OpenFace)
def action_values(
    info_states: InfoStates,
    players: Players,
    rng: np.random.Generator,  # noqa: ARG001
    num_samples: int,  # noqa: ARG001  exact: enumerates all orders
    options: Mapping[str, Any] | None = None,  # noqa: ARG001
) -> Floats:
    """[G, 3] expected points of the mover by row under optimal play; -inf for full rows.

    The game has perfect information apart from the deck, so this is its expectiminimax value. Games that are not
    `solvable` have -inf everywhere.
    """
    values = np.full((len(info_states), NUM_ROWS), -np.inf, dtype=np.float32)
    rows = np.flatnonzero(solvable(info_states, players))
    values[rows] = _row_values(take(info_states, rows), strength_table(), front_table())
    return values


@kernel
def _row_values(info_states: InfoStates, strengths: Strengths, fronts: NDArray[np.int32]) -> Floats:
    values = np.full((info_states.shape[0], NUM_ROWS), -np.inf, dtype=np.float32)
    cards = np.empty(NUM_CARDS, dtype=np.int8)
    keys = np.empty((2, _MAX_PLACEMENTS, NUM_ROWS), dtype=np.int64)  # of the mover, then of the opponent
    first_rows, last_rows = (
        np.empty((2, _MAX_PLACEMENTS), dtype=np.int64),
        np.empty((2, _MAX_PLACEMENTS), dtype=np.int64),
    )
    boards = np.empty((NUM_CARDS, NUM_ROWS), dtype=np.int32)
    for n in range(info_states.shape[0]):
        state = info_states[n]
        mover, step = to_int64(state["mover"]), to_int64(state["step"])
        unseen = cards[: list_unseen(cards, state["deck"])]
        num_placements = _list_placements(state, mover, keys[0], first_rows[0], last_rows[0])
        num_opponent_placements = _list_placements(state, 1 - mover, keys[1], first_rows[1], last_rows[1])
        opposite = _opponent_boards(strengths, fronts, keys[1], first_rows[1], last_rows[1], unseen)
        for placement in range(num_placements):
            row, last = first_rows[0, placement], last_rows[0, placement]
            keys[0, placement, row] += CARD_KEYS[state["deck"][step]]
            _fill_boards(strengths, fronts, keys[0, placement], last, unseen, boards)
            own = boards[: unseen.size]
            values[n, row] = _minimizing_value(own, last >= 0, opposite[:num_opponent_placements], last_rows[1, 0] >= 0)
    return values


@kernel
def _list_placements(state: np.void, player: int, keys: Numbers, first_rows: Numbers, last_rows: Numbers) -> int:
    """List the rows of a player's next card, `first_rows`, and of the card after it, `last_rows` (-1: none).

    `keys` [2, 3] receive the keys of the player's rows, once for each placement. Without a card to place, one placement
    of -1, -1 is listed. Unused entries are copies of the first placement. Return the number of placements.
    """
    count = left = 0
    for row in range(NUM_ROWS):
        left += capacity(row) - to_int64(state["sizes"][player, row])
    for row in range(NUM_ROWS):
        room = capacity(row) - to_int64(state["sizes"][player, row])
        if room > 0 or (left == 0 and row == 0):
            first_rows[count], last_rows[count] = (row, -1) if left else (-1, -1)
            for other in range(NUM_ROWS):
                keys[count, other] = state["keys"][player, other]
                free = capacity(other) - to_int64(state["sizes"][player, other]) - (1 if other == row else 0)
                if left and free > 0:
                    last_rows[count] = other
            count += 1
    for placement in range(count, _MAX_PLACEMENTS):
        first_rows[placement], last_rows[placement] = first_rows[0], last_rows[0]
        for row in range(NUM_ROWS):
            keys[placement, row] = keys[0, row]
    return count


@kernel
def _fill_boards(
    strengths: Strengths, fronts: NDArray[np.int32], keys: Numbers, last: int, unseen: Cards, boards: Boards
) -> None:
    """Fill `boards` [n, 3] with the ranks of the rows, by the unseen card in row `last`; all equal if `last` is -1."""
    for index in range(unseen.size):
        if last >= 0:
            keys[last] += CARD_KEYS[unseen[index]]
        for row in range(NUM_ROWS):
            boards[index, row] = row_rank(strengths, fronts, keys[row], row)
        if last >= 0:
            keys[last] -= CARD_KEYS[unseen[index]]


@kernel
def _opponent_boards(
    strengths: Strengths,
    fronts: NDArray[np.int32],
    keys: Numbers,
    first_rows: Numbers,
    last_rows: Numbers,
    unseen: Cards,
) -> Boards:
    """[placements, n, n, 3] ranks of the opponent's board by placement, next card and the card after that."""
    boards = np.empty((_MAX_PLACEMENTS, unseen.size, unseen.size, NUM_ROWS), dtype=np.int32)
    for placement in range(_MAX_PLACEMENTS):
        for index in range(unseen.size):
            first = first_rows[placement]
            if first >= 0:
                keys[placement, first] += CARD_KEYS[unseen[index]]
            _fill_boards(strengths, fronts, keys[placement], last_rows[placement], unseen, boards[placement, index])
            if first >= 0:
                keys[placement, first] -= CARD_KEYS[unseen[index]]
    return boards


@kernel
def _minimizing_value(boards: Boards, one_more: bool, opposite: Boards, two_opposite: bool) -> float:
    """Mean over the opponent's next card of the minimum over its placements of the mean over the later cards.

    `boards` [n, 3] are the mover's boards by its last card, used only with `one_more`. With `two_opposite` the opponent
    places another card at the end.
    """
    count = boards.shape[0]
    total = 0.0
    for first in range(count):
        minimum = np.inf
        for placement in range(opposite.shape[0]):
            points = cases = 0
            for own in range(count if one_more else 1):
                for last in range(count if two_opposite else 1):
                    if one_more and (own == first or (two_opposite and own == last)):
                        continue
                    if two_opposite and last == first:
                        continue
                    points += score_boards(boards[own], opposite[placement, first, last])
                    cases += 1
            minimum = min(minimum, points / cases)
        total += minimum
    return total / count
