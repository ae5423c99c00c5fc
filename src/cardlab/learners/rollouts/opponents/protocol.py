"""The interface of opponents."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cardlab.core.options import NUMERIC
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Floats

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
