"""Replay memory: decisions with the return that followed, drawn again and again. Holds InfoStates, not features."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.games.protocol import Actions, Floats, InfoStates, Players
from cardlab.games.rows import put, take
from cardlab.learners.rollouts.experience import pack, unpack


@dataclass(frozen=True, slots=True)
class Transitions:
    """Decisions and where they led: target = sums + discounts · value(next_info_states)."""

    info_states: InfoStates  # [N]
    players: Players  # [N]
    actions: Actions  # [N]
    sums: Floats  # [N] discounted rewards until the next of these, or the end
    discounts: Floats  # [N] of the value there; 0 when the game was over
    next_info_states: InfoStates  # [N] the same player's decision there


class ReplayMemory:
    """A ring of the last `size` decisions (replay buffer; Lin 1992)."""

    def __init__(self, size: int, state_dtype: np.dtype[np.void]) -> None:
        self.size = size
        self.added = 0
        self._columns = {
            "info_states": np.zeros(size, dtype=state_dtype),
            "players": np.zeros(size, dtype=np.int8),
            "actions": np.zeros(size, dtype=np.int16),
            "sums": np.zeros(size, dtype=np.float32),
            "discounts": np.zeros(size, dtype=np.float32),
            "next_info_states": np.zeros(size, dtype=state_dtype),
        }

    def __len__(self) -> int:
        return min(self.added, self.size)

    def add(self, transitions: Transitions) -> None:
        """Put in [N] decisions; the oldest make room."""
        num = len(transitions.actions)
        places = np.arange(self.added, self.added + num) % self.size
        kept = slice(max(0, num - self.size), num)  # more than the ring holds: only the last of them
        for entry in fields(transitions):
            put(self._columns[entry.name], places[kept], getattr(transitions, entry.name)[kept])
        self.added += num

    def draw(self, num: int, rng: np.random.Generator) -> Transitions:
        """[num] decisions, uniform, with replacement."""
        return self._at(rng.integers(len(self), size=num))

    def _at(self, places: NDArray[np.int64]) -> Transitions:
        columns: dict[str, Any] = {name: take(column, places) for name, column in self._columns.items()}
        return Transitions(**columns)

    def state_dict(self) -> dict[str, Any]:
        """All that a resumed run needs."""
        filled = len(self)
        return {"added": self.added} | {name: pack(column[:filled]) for name, column in self._columns.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict`."""
        self.added = int(state["added"])
        for name, column in self._columns.items():
            column[: len(self)] = unpack(state[name], column)
