"""Legality of actions: forced moves, uniform choices, and checks of actions that agents return."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Actions, AnyStates, Bools, Game, Starts, lists_legal_actions


@dataclass(frozen=True, slots=True)
class Legality:
    """The legal actions of [N] decisions: a mask [N, A], or with `starts` [N + 1] concatenated lists [K]."""

    legal: Any
    starts: Starts | None = None

    def forced_moves(self) -> Actions:
        """[N] the action where exactly one is legal, -1 elsewhere."""
        if self.starts is None:
            return forced_moves(self.legal)
        return _forced_moves_of_lists(self.legal, self.starts)

    def are_legal(self, actions: Actions) -> Bools:
        """[N] whether each of `actions` [N] is legal in its row; any number is accepted."""
        if self.starts is None:
            return _are_in_masks(self.legal, actions)
        return _are_in_lists(self.legal, self.starts, actions)


def legality(game: Game, states: AnyStates) -> Legality:
    """Legality in `states` [N], from lists of legal actions where the game makes them, else from masks."""
    if lists_legal_actions(game):
        return Legality(*game.list_legal_actions(states))
    return Legality(game.legal_actions(states))


@kernel
def forced_moves(legal: Bools) -> Actions:
    """[N] the action where exactly one is legal, -1 elsewhere; `legal` is [N, A]."""
    moves = np.full(legal.shape[0], -1, dtype=np.int16)
    for row in range(legal.shape[0]):
        for action in range(legal.shape[1]):
            if legal[row, action]:
                if moves[row] >= 0:
                    moves[row] = -1
                    break
                moves[row] = action
    return moves


@kernel
def _forced_moves_of_lists(legal: Actions, starts: Starts) -> Actions:
    moves = np.empty(starts.size - 1, dtype=np.int16)
    for row in range(moves.size):
        moves[row] = legal[starts[row]] if starts[row + 1] - starts[row] == 1 else -1
    return moves


@kernel
def _are_in_masks(legal: Bools, actions: Actions) -> Bools:
    found = np.zeros(actions.size, dtype=np.bool_)
    for row in range(actions.size):
        found[row] = 0 <= actions[row] < legal.shape[1] and legal[row, actions[row]]
    return found


@kernel
def _are_in_lists(legal: Actions, starts: Starts, actions: Actions) -> Bools:
    found = np.zeros(actions.size, dtype=np.bool_)
    for row in range(actions.size):
        for place in range(starts[row], starts[row + 1]):
            found[row] |= legal[place] == actions[row]
    return found


@kernel
def choose_uniformly(legal: Bools, uniforms: NDArray[np.float32]) -> Actions:
    """[N] one True column of each row of `legal` [N, A] (C-contiguous), picked by `uniforms` [N] in [0, 1)."""
    num_rows, num_actions = legal.shape
    actions = np.zeros(num_rows, dtype=np.int16)
    found = np.empty(num_actions, dtype=np.int16)
    flat = legal.reshape(-1).view(np.uint8)
    words = flat[: flat.size // 8 * 8].view(np.uint64)
    wide = num_actions > 64  # wide masks are mostly empty: skip eight columns at a time
    for row in range(num_rows):
        start = row * num_actions
        stop = start + num_actions
        count = 0
        at = start
        while at < stop:
            if wide and at % 8 == 0 and at + 8 <= stop and words[at >> 3] == 0:
                at += 8
                continue
            if flat[at]:
                found[count] = at - start
                count += 1
            at += 1
        if count:
            actions[row] = found[min(np.int64(uniforms[row] * count), count - 1)]
    return actions


@kernel
def choose_from_each(legal: Actions, starts: Starts, uniforms: NDArray[np.float32]) -> Actions:
    """[N] the choices of `choose_uniformly`, from ragged lists: legal [K] with row starts [N + 1]."""
    actions = np.zeros(len(uniforms), dtype=np.int16)
    for row in range(len(uniforms)):
        count = starts[row + 1] - starts[row]
        if count:
            actions[row] = legal[starts[row] + min(np.int64(uniforms[row] * count), count - 1)]
    return actions
