"""What play asks of legal actions: who has no choice, and whether an action is among them."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Actions, AnyStates, Bools, Game, Starts, lists_legal


class Legality(Protocol):
    """The legal actions of [N] decisions."""

    def sole(self) -> Actions:
        """[N] the action where exactly one is legal, -1 elsewhere."""
        ...

    def allows(self, actions: Actions) -> Bools:
        """[N] whether each of `actions` [N], any numbers, is legal in its place."""
        ...


def legality(game: Game, states: AnyStates) -> Legality:
    """What may be done in `states` [N], as the game tells it at least cost."""
    if lists_legal(game):
        return _Listed(*game.list_legal(states))
    return _Masked(game.legal_actions(states))


@dataclass(frozen=True, slots=True)
class _Masked:
    legal: Bools  # [N, A]

    def sole(self) -> Actions:
        return sole_actions(self.legal)

    def allows(self, actions: Actions) -> Bools:
        return _are_marked(self.legal, actions)


@dataclass(frozen=True, slots=True)
class _Listed:
    legal: Actions  # [K]
    starts: Starts  # [N + 1]

    def sole(self) -> Actions:
        return _sole_of_each(self.legal, self.starts)

    def allows(self, actions: Actions) -> Bools:
        return _are_among(self.legal, self.starts, actions)


@kernel
def sole_actions(legal: Bools) -> Actions:
    """[N] the action where exactly one is legal, -1 elsewhere; `legal` [N, A] is C-contiguous."""
    num_rows, num_actions = legal.shape
    sole = np.full(num_rows, -1, dtype=np.int16)
    flat = legal.reshape(-1).view(np.uint8)
    words = flat[: flat.size // 8 * 8].view(np.uint64)
    wide = num_actions > 64  # wide masks are mostly empty: eight columns are passed over at once
    for row in range(num_rows):
        start = row * num_actions
        stop = start + num_actions
        at = start
        while at < stop:
            if wide and at % 8 == 0 and at + 8 <= stop and words[at >> 3] == 0:
                at += 8
                continue
            if flat[at]:
                if sole[row] >= 0:
                    sole[row] = -1
                    break
                sole[row] = at - start
            at += 1
    return sole


@kernel
def _are_marked(legal: Bools, actions: Actions) -> Bools:
    marked = np.zeros(actions.size, dtype=np.bool_)
    for row in range(actions.size):
        action = actions[row]
        if 0 <= action < legal.shape[1]:
            marked[row] = legal[row, action]
    return marked


@kernel
def _sole_of_each(legal: Actions, starts: Starts) -> Actions:
    sole = np.full(starts.size - 1, -1, dtype=np.int16)
    for row in range(sole.size):
        if starts[row + 1] - starts[row] == 1:
            sole[row] = legal[starts[row]]
    return sole


@kernel
def _are_among(legal: Actions, starts: Starts, actions: Actions) -> Bools:
    among = np.zeros(actions.size, dtype=np.bool_)
    for row in range(actions.size):
        for place in range(starts[row], starts[row + 1]):
            among[row] |= legal[place] == actions[row]
    return among
