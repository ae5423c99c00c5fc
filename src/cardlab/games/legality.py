"""Legality of actions: forced moves, and checks of actions that agents return."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Actions, AnyStates, Bools, Game, Starts, lists_legal_actions


class Legality(Protocol):
    """The legal actions of [N] decisions."""

    def forced_moves(self) -> Actions:
        """[N] the action where exactly one is legal, -1 elsewhere."""
        ...

    def are_legal(self, actions: Actions) -> Bools:
        """[N] whether each of `actions` [N] is legal in its row; any number is accepted."""
        ...


def legality(game: Game, states: AnyStates) -> Legality:
    """Legality in `states` [N], from lists of legal actions where the game makes them, else from masks."""
    if lists_legal_actions(game):
        return _ListLegality(*game.list_legal_actions(states))
    return _MaskLegality(game.legal_actions(states))


@dataclass(frozen=True, slots=True)
class _MaskLegality:
    legal: Bools  # [N, A]

    def forced_moves(self) -> Actions:
        return forced_moves(self.legal)

    def are_legal(self, actions: Actions) -> Bools:
        return _are_in_masks(self.legal, actions)


@dataclass(frozen=True, slots=True)
class _ListLegality:
    legal: Actions  # [K]
    starts: Starts  # [N + 1]

    def forced_moves(self) -> Actions:
        return _forced_moves_of_lists(self.legal, self.starts)

    def are_legal(self, actions: Actions) -> Bools:
        return _are_in_lists(self.legal, self.starts, actions)


@kernel
def forced_moves(legal: Bools) -> Actions:
    """[N] the action where exactly one is legal, -1 elsewhere; `legal` [N, A] is C-contiguous."""
    num_rows, num_actions = legal.shape
    moves = np.full(num_rows, -1, dtype=np.int16)
    flat = legal.reshape(-1).view(np.uint8)
    words = flat[: flat.size // 8 * 8].view(np.uint64)
    wide = num_actions > 64  # wide masks are mostly empty: skip eight columns at a time
    for row in range(num_rows):
        start = row * num_actions
        stop = start + num_actions
        at = start
        while at < stop:
            if wide and at % 8 == 0 and at + 8 <= stop and words[at >> 3] == 0:
                at += 8
                continue
            if flat[at]:
                if moves[row] >= 0:
                    moves[row] = -1
                    break
                moves[row] = at - start
            at += 1
    return moves


@kernel
def _are_in_masks(legal: Bools, actions: Actions) -> Bools:
    found = np.zeros(actions.size, dtype=np.bool_)
    for row in range(actions.size):
        action = actions[row]
        if 0 <= action < legal.shape[1]:
            found[row] = legal[row, action]
    return found


@kernel
def _forced_moves_of_lists(legal: Actions, starts: Starts) -> Actions:
    moves = np.full(starts.size - 1, -1, dtype=np.int16)
    for row in range(moves.size):
        if starts[row + 1] - starts[row] == 1:
            moves[row] = legal[starts[row]]
    return moves


@kernel
def _are_in_lists(legal: Actions, starts: Starts, actions: Actions) -> Bools:
    found = np.zeros(actions.size, dtype=np.bool_)
    for row in range(actions.size):
        for place in range(starts[row], starts[row + 1]):
            found[row] |= legal[place] == actions[row]
    return found
