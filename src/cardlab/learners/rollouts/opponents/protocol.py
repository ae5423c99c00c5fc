"""What a field of opponents is."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Floats
from cardlab.networks.protocol import Network

Seats = NDArray[np.int8]
AgentOf = Callable[[Network], Agent]  # how the learner's kind of agent plays a network, without exploring


class Opponents(Protocol):
    """A changing field of opponents."""

    @property
    def agents(self) -> Sequence[Agent]:
        """Agents 1, 2, …: those that `seat` may name, beside the learner."""
        ...

    @property
    def win_shares(self) -> Mapping[str, float]:
        """Opponent → share of the late games against it that the learner won; of those whose results are followed."""
        ...

    def seat(self, num_games: int, num_players: int, rng: np.random.Generator) -> Seats:
        """[G, P] who sits where in new games; 0 is the learner, at one seat at least."""
        ...

    def advance(self, round_number: int, network: Network, payoffs: Floats, seats: Seats) -> None:
        """Tell that round `round_number` (from 1) is done, and the learner's network is now this.

        `payoffs` [M, P] and `seats` [M, P] are those of the games that ended in it.
        """
        ...

    def state_dict(self) -> dict[str, Any]:
        """All that a resumed run needs, as tensors and plain values."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict`."""
        ...
