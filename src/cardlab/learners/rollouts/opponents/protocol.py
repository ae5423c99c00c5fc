"""The interface of opponents, and random seats for them and the learner."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cardlab.core.options import NUMERIC
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Bools, Floats

if TYPE_CHECKING:
    from cardlab.networks.protocol import Network


MAX_OPPONENTS = 127  # seats are int8
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False), NUMERIC]
Seats = NDArray[np.int8]
"""[G, P] agent at each seat: 0 is the learner, i > 0 is `Opponents.agents[i - 1]`."""
AgentOf = Callable[["Network"], Agent]
"""Makes the learner's kind of agent, without exploration, from a network."""


class Opponents(Protocol):
    """Opponents, which may change in training."""

    @property
    def agents(self) -> Sequence[Agent]:
        """Agents 1, 2, … of `assign_seats`; agent 0 is the learner."""
        ...

    @property
    def win_rates(self) -> Mapping[str, float]:
        """Opponent → the learner's recent win rate against it, for opponents that are tracked."""
        ...

    def assign_seats(self, num_games: int, num_players: int, rng: np.random.Generator) -> Seats:
        """Agents [G, P] at the seats of new games; the learner has one seat or more in each."""
        ...

    def update(self, iteration: int, network: "Network", payoffs: Floats, seats: Seats) -> None:
        """Update the opponents after `iteration` (from 1), with the learner's network after it.

        `payoffs` [M, P] and `seats` [M, P] are of the games that finished in the iteration.
        """
        ...

    def state_dict(self) -> dict[str, Any]:
        """The state as tensors and plain values, for a checkpoint."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the content of `state_dict`."""
        ...


def draw_seats(
    num_games: int,
    num_players: int,
    probabilities: NDArray[Any],
    rng: np.random.Generator,
    *,
    same_agent: bool = False,
) -> Seats:
    """[G, P] opponents 1, 2, … drawn by `probabilities` for each seat, or with `same_agent` for each game."""
    size = (num_games, 1 if same_agent else num_players)
    drawn = rng.choice(len(probabilities), size=size, p=probabilities).astype(np.int8) + np.int8(1)
    seats = np.broadcast_to(drawn, (num_games, num_players)).copy()
    seats[np.arange(num_games), rng.integers(num_players, size=num_games)] = 0
    return seats


def draw_distinct_seats(num_games: int, num_players: int, weights: NDArray[Any], rng: np.random.Generator) -> Seats:
    """[G, P] opponents drawn by `weights` without replacement, so that none has two seats of a game.

    The P − 1 largest of u^(1/w), u uniform, are such a sample (Efraimidis and Spirakis 2006).
    """
    with np.errstate(divide="ignore"):
        keys = np.log(rng.random((num_games, len(weights)))) / weights
    drawn = np.argsort(-keys, axis=1)[:, : num_players - 1].astype(np.int8) + np.int8(1)
    seats = np.concatenate((np.zeros((num_games, 1), dtype=np.int8), drawn), axis=1)
    return rng.permuted(seats, axis=1)


def move_learner_to_occupied_seat(seats: Seats, occupied: Bools, rng: np.random.Generator) -> None:
    """Swap the learner into a random occupied seat in games where it has none, in place.

    `seats` and `occupied` have shape [G, P].
    """
    absent = np.flatnonzero(~((seats == 0) & occupied).any(axis=1))
    draws = rng.random((len(absent), seats.shape[1]))
    target = np.where(occupied[absent], draws, -1.0).argmax(axis=1)
    learner = (seats[absent] == 0).argmax(axis=1)
    seats[absent, learner] = seats[absent, target]
    seats[absent, target] = 0
