"""Open-face to the end: exact values when each player has two cards left to place, or fewer."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.arrays import checked_function
from cardlab.games.cards.deck import NUM_CARDS
from cardlab.games.cards.hands import CARD_KEYS, Strengths, front_table, strength_table
from cardlab.games.open_face.game import OpenFace
from cardlab.games.open_face.royalties import row_rank
from cardlab.games.open_face.rules import NUM_DEALT, NUM_ROWS, capacity, settle, wide
from cardlab.games.protocol import Bools, Floats, InfoStates, Players
from cardlab.games.rows import take

FIRST_STEP = NUM_DEALT - 4
"""From this decision on each player has at most two cards to place."""

_MAX_WAYS = 2
Numbers = NDArray[np.int64]
Boards = NDArray[np.int32]  # [..., 3] the ranks of the rows of complete boards


@checked_function(OpenFace)
def solvable(
    info_states: InfoStates,
    players: Players,
    options: Mapping[str, Any] | None = None,  # noqa: ARG001  one signature for all games
) -> Bools:
    """[G] whether `action_values` are exact: `players` are to move, and at most two cards are left to each."""
    return (info_states["step"] >= FIRST_STEP) & (info_states["mover"] == players)


@checked_function(OpenFace)
def action_values(
    info_states: InfoStates,
    players: Players,
    rng: np.random.Generator,  # noqa: ARG001
    num_samples: int,  # noqa: ARG001  every order of the unseen cards is counted
    options: Mapping[str, Any] | None = None,  # noqa: ARG001
) -> Floats:
    """[G, 3] expected points of the mover by row when both go on as well as they can; -inf where there is no room.

    Both see all that is to be seen, so this is the value of the game: the mean over each card to come, the mover's
    maximum, the opponent's minimum. Games that are not `solvable` have -inf everywhere.
    """
    values = np.full((len(info_states), NUM_ROWS), -np.inf, dtype=np.float32)
    rows = np.flatnonzero(solvable(info_states, players))
    values[rows] = _row_values(take(info_states, rows), strength_table(), front_table())
    return values


@kernel
def _row_values(info_states: InfoStates, strengths: Strengths, fronts: NDArray[np.int32]) -> Floats:
    values = np.full((info_states.shape[0], NUM_ROWS), -np.inf, dtype=np.float32)
    cards = np.empty(NUM_CARDS, dtype=np.int64)
    keys = np.empty((2, _MAX_WAYS, NUM_ROWS), dtype=np.int64)  # of the mover, then of the opponent
    firsts, lasts = np.empty((2, _MAX_WAYS), dtype=np.int64), np.empty((2, _MAX_WAYS), dtype=np.int64)
    boards = np.empty((NUM_CARDS, NUM_ROWS), dtype=np.int32)
    for n in range(info_states.shape[0]):
        state = info_states[n]
        mover, step = wide(state["mover"]), wide(state["step"])
        unseen = cards[: _list_unseen(state, cards)]
        num_ways = _list_ways(state, mover, keys[0], firsts[0], lasts[0])
        num_opposite = _list_ways(state, 1 - mover, keys[1], firsts[1], lasts[1])
        opposite = _boards_opposite(strengths, fronts, keys[1], firsts[1], lasts[1], unseen)
        for way in range(num_ways):
            row, last = firsts[0, way], lasts[0, way]
            keys[0, way, row] += CARD_KEYS[state["deck"][step]]
            _fill_boards(strengths, fronts, keys[0, way], last, unseen, boards)
            own = boards[: unseen.size]
            values[n, row] = _mean_of_least(own, last >= 0, opposite[:num_opposite], lasts[1, 0] >= 0)
    return values


@kernel
def _list_unseen(state: np.void, unseen: Numbers) -> int:
    """Fill `unseen` with the cards that nobody has seen; how many there are."""
    seen = np.int64(0)
    for index in range(NUM_DEALT):
        if state["deck"][index] >= 0:
            seen |= np.int64(1) << np.int64(state["deck"][index])
    count = 0
    for card in range(NUM_CARDS):
        if not seen >> card & 1:
            unseen[count] = card
            count += 1
    return count


@kernel
def _list_ways(state: np.void, player: int, keys: Numbers, firsts: Numbers, lasts: Numbers) -> int:
    """List where a player's next card may go: `firsts`, and `lasts`, the row of the card after it (-1: there is none).

    `keys` [2, 3] become those of the player's rows, once for each way; with nothing to place one way of -1, -1 is left.
    What is not a way is a copy of the first.
    """
    count = left = 0
    for row in range(NUM_ROWS):
        left += capacity(row) - wide(state["sizes"][player, row])
    for row in range(NUM_ROWS):
        room = capacity(row) - wide(state["sizes"][player, row])
        if room > 0 or (left == 0 and row == 0):
            firsts[count], lasts[count] = (row, -1) if left else (-1, -1)
            for other in range(NUM_ROWS):
                keys[count, other] = state["keys"][player, other]
                free = capacity(other) - wide(state["sizes"][player, other]) - (1 if other == row else 0)
                if left and free > 0:
                    lasts[count] = other
            count += 1
    for way in range(count, _MAX_WAYS):
        firsts[way], lasts[way] = firsts[0], lasts[0]
        for row in range(NUM_ROWS):
            keys[way, row] = keys[0, row]
    return count


@kernel
def _fill_boards(
    strengths: Strengths, fronts: NDArray[np.int32], keys: Numbers, last: int, unseen: Numbers, boards: Boards
) -> None:
    """Fill `boards` [n, 3] with the board by the unseen card in row `last`; one and the same where that is -1."""
    for index in range(unseen.size):
        if last >= 0:
            keys[last] += CARD_KEYS[unseen[index]]
        for row in range(NUM_ROWS):
            boards[index, row] = row_rank(strengths, fronts, keys[row], row)
        if last >= 0:
            keys[last] -= CARD_KEYS[unseen[index]]


@kernel
def _boards_opposite(
    strengths: Strengths,
    fronts: NDArray[np.int32],
    keys: Numbers,
    firsts: Numbers,
    lasts: Numbers,
    unseen: Numbers,
) -> Boards:
    """[ways, n, n, 3] the opponent's board by the way it goes, its next card and the one after that."""
    boards = np.empty((_MAX_WAYS, unseen.size, unseen.size, NUM_ROWS), dtype=np.int32)
    for way in range(_MAX_WAYS):
        for index in range(unseen.size):
            first = firsts[way]
            if first >= 0:
                keys[way, first] += CARD_KEYS[unseen[index]]
            _fill_boards(strengths, fronts, keys[way], lasts[way], unseen, boards[way, index])
            if first >= 0:
                keys[way, first] -= CARD_KEYS[unseen[index]]
    return boards


@kernel
def _mean_of_least(boards: Boards, one_more: bool, opposite: Boards, two_opposite: bool) -> float:
    """Mean over the opponent's next card of the least, by the way it goes, of the mean over the cards after it.

    `boards` [n, 3] are one's own by their last card, which counts if there is `one_more`; `two_opposite`: the opponent
    places another card at the end.
    """
    count = boards.shape[0]
    total = 0.0
    for first in range(count):
        least = np.inf
        for way in range(opposite.shape[0]):
            points = cases = 0
            for own in range(count if one_more else 1):
                for last in range(count if two_opposite else 1):
                    if one_more and (own == first or (two_opposite and own == last)):
                        continue
                    if two_opposite and last == first:
                        continue
                    points += settle(boards[own], opposite[way, first, last])
                    cases += 1
            least = min(least, points / cases)
        total += least
    return total / count
