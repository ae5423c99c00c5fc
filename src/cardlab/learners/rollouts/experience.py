"""Decisions of finished games as training samples, and records and generators in checkpoint form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cardlab.games.protocol import Actions, Bools, Floats, Game, InfoStates, Players, States
from cardlab.games.record_arrays import join, take


@dataclass(frozen=True, slots=True)
class Experience:
    """The learner's decisions; those of one player in one game are adjacent, in time order."""

    info_states: InfoStates  # [N] what the player knew
    players: Players  # [N]
    actions: Actions  # [N]
    log_probabilities: Floats  # [N] of the behaviour policy
    values: Floats  # [N] as estimated by the behaviour policy
    rewards: Floats  # [N] payoff between this decision and the player's next one, or the end
    ends: Bools  # [N] the player's last decision in the game, or before the cut
    payoffs: Floats  # [M, P] final payoffs of the M games
    seats: NDArray[np.int8]  # [M, P] agent at each seat; 0 is the learner
    states: States | None = None  # [N] complete states at the decisions, for a critic that sees hidden cards
    next_values: Floats | None = None  # [N] in cut games, at `ends`: value of the player's next decision, or 0

    def __len__(self) -> int:
        return len(self.actions)

    def state_dict(self) -> dict[str, Tensor]:
        """The arrays in checkpoint form."""
        arrays = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {name: pack(array) for name, array in arrays.items() if array is not None}

    @classmethod
    def of_state(cls, state: Mapping[str, Tensor], game: Game) -> "Experience":
        """From `state_dict`."""
        records: dict[str, Any] = dict.fromkeys(("info_states", "states"), game.state_dtype)
        dtypes = records | {"players": np.int8, "actions": np.int16, "ends": np.bool_, "seats": np.int8}
        shapes: dict[str, tuple[int]] = dict.fromkeys(("payoffs", "seats"), (game.spec.num_players,))
        names = [entry.name for entry in fields(cls) if entry.name in state]
        arrays = {
            name: unpack(state[name], np.dtype(dtypes.get(name, np.float32)), *shapes.get(name, ())) for name in names
        }
        return cast(Any, cls)(**arrays)

    @property
    def learner_payoff(self) -> float:
        """Mean final payoff of the learner's seats; 0 if no game ended."""
        payoffs = self.payoffs[self.seats == 0]
        return float(payoffs.mean()) if payoffs.size else 0.0


@dataclass(frozen=True, slots=True)
class Columns:
    """Base of dataclasses whose fields are arrays of one length N; a field may be None in all of them."""

    def columns(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        arrays = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {name: array for name, array in arrays.items() if array is not None}

    def take(self, index: NDArray[Any]) -> Self:
        """The rows at `index`: indices, or a mask."""
        return self.of({name: take(array, index) for name, array in self.columns().items()})

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """All rows of one or more parts."""
        return cls.of({name: join([getattr(part, name) for part in parts]) for name in parts[0].columns()})

    @classmethod
    def of(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """From arrays by name."""
        return cast(Any, cls)(**arrays)


def pack(records: NDArray[Any]) -> Tensor:
    """The bytes of an array as a uint8 tensor, which weights-only checkpoints can hold."""
    return torch.from_numpy(np.frombuffer(records.tobytes(), dtype=np.uint8).copy())


def unpack(packed: Tensor, like: NDArray[Any] | np.dtype[Any], *shape: int) -> NDArray[Any]:
    """The array of `pack`; `shape` is the shape of one entry, without the first axis."""
    dtype = like if isinstance(like, np.dtype) else like.dtype
    return np.frombuffer(packed.numpy().tobytes(), dtype=dtype).reshape(-1, *shape).copy()


def generator_state(rng: np.random.Generator) -> dict[str, Any]:
    """The state of a PCG64 generator as text and whole numbers."""
    state: dict[str, Any] = dict(rng.bit_generator.state)
    inner = {key: str(value) for key, value in state["state"].items()}
    return {**state, "state": inner}


def restore_generator(rng: np.random.Generator, state: dict[str, Any]) -> None:
    """Set `rng` to the state of `generator_state`."""
    inner = {key: int(value) for key, value in state["state"].items()}
    rng.bit_generator.state = {**state, "state": inner}
