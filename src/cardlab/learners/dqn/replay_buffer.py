"""Replay buffer of decisions for off-policy learning. It stores InfoStates, not features."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cardlab.games.protocol import Actions, Floats, InfoStates, Players
from cardlab.games.record_arrays import put, take
from cardlab.learners.rollouts.experience import Columns, pack, unpack


@dataclass(frozen=True, slots=True)
class Transitions(Columns):
    """Decisions and their n-step successors: target = sums + discounts · value(next_info_states)."""

    info_states: InfoStates  # [N]
    players: Players  # [N]
    actions: Actions  # [N]
    sums: Floats  # [N] discounted rewards until the successor, or the end
    discounts: Floats  # [N] of the successor's value; 0 if the game is over
    next_info_states: InfoStates  # [N] the successor: a later decision of the player


class ReplayBuffer:
    """A ring buffer of the last `size` decisions (Lin 1992)."""

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
        """Add N decisions; they replace the oldest ones of a full buffer."""
        num = len(transitions.actions)
        places = np.arange(self.added, self.added + num) % self.size
        kept = slice(max(0, num - self.size), num)  # the last `size` of more decisions
        for name, column in transitions.columns().items():
            put(self._columns[name], places[kept], column[kept])
        self.added += num

    def sample(self, num: int, rng: np.random.Generator) -> Transitions:
        """`num` decisions, uniform, with replacement."""
        places = rng.integers(len(self), size=num)
        return Transitions.of({name: take(column, places) for name, column in self._columns.items()})

    def state_dict(self) -> dict[str, Any]:
        """The content as tensors, for a checkpoint."""
        filled = len(self)
        return {"added": self.added} | {name: pack(column[:filled]) for name, column in self._columns.items()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the content of `state_dict`."""
        self.added = int(state["added"])
        for name, column in self._columns.items():
            column[: len(self)] = unpack(state[name], column)
