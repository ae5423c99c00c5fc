"""Finished games as samples, and arrays of records as tensors for checkpoints."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cardlab.games.protocol import Actions, Bools, Floats, InfoStates, Players, States


@dataclass(frozen=True, slots=True)
class Experience:
    """The learner's decisions in whole games; those of one player in one game are neighbours, in time order."""

    info_states: InfoStates  # [N] what the player knew
    players: Players  # [N]
    actions: Actions  # [N]
    log_probabilities: Floats  # [N] of the behaviour policy
    values: Floats  # [N] as the agent estimated when it chose
    rewards: Floats  # [N] payoff between this decision and the player's next, or the end
    ends: Bools  # [N] the player's last decision in the game
    payoffs: Floats  # [M, P] final payoffs of the M games
    seats: NDArray[np.int8]  # [M, P] who sat where; 0 is the learner
    states: States | None = None  # [N] the truth when the player decided, where a critic is to see it

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def learner_payoff(self) -> float:
        """Mean final payoff of the learner's seats."""
        return float(self.payoffs[self.seats == 0].mean())


def pack(records: NDArray[Any]) -> Tensor:
    """An array as a uint8 tensor of its bytes: what a weights-only checkpoint may hold."""
    return torch.from_numpy(np.frombuffer(records.tobytes(), dtype=np.uint8).copy())


def unpack(packed: Tensor, like: NDArray[Any] | np.dtype[Any], *shape: int) -> NDArray[Any]:
    """The array that `pack` packed; `shape` is that of one entry, behind the first axis."""
    dtype = like if isinstance(like, np.dtype) else like.dtype
    return np.frombuffer(packed.numpy().tobytes(), dtype=dtype).reshape(-1, *shape).copy()


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """The state of a PCG64 generator as text and whole numbers."""
    state: dict[str, Any] = dict(rng.bit_generator.state)
    inner = {key: str(value) for key, value in state["state"].items()}
    return {**state, "state": inner}


def restore_generator(rng: np.random.Generator, state: dict[str, Any]) -> None:
    """Put `rng` where `generator_state` saw it."""
    inner = {key: int(value) for key, value in state["state"].items()}
    rng.bit_generator.state = {**state, "state": inner}
