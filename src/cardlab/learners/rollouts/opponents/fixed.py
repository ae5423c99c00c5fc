"""Opponents that do not change: none but the learner itself, or agents by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.registry import load_agent
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Floats, Game
from cardlab.learners.rollouts.opponents.protocol import Seats
from cardlab.learners.rollouts.opponents.seats import seat_by_weight, seat_distinct
from cardlab.networks.protocol import Network


@dataclass
class FixedField:
    """Opponents that do not change."""

    agents: Sequence[Agent]
    weights: NDArray[np.float64]
    share: float
    distinct: bool = False

    @classmethod
    def of(cls, agents: Mapping[str, float], game: Game, share: float, distinct: bool = False) -> "FixedField":
        """The agents of these names, drawn in proportion to their weights."""
        weights = np.array(list(agents.values()), dtype=np.float64)
        shares = weights / weights.sum() if len(weights) else weights
        return cls([load_agent(game, text) for text in agents], shares, share, distinct)

    @property
    def win_shares(self) -> Mapping[str, float]:
        """None are followed."""
        return {}

    def seat(self, num_games: int, num_players: int, rng: np.random.Generator) -> Seats:
        """[G, P] who sits where."""
        if self.share <= 0 or not len(self.weights):
            return np.zeros((num_games, num_players), dtype=np.int8)
        draw = seat_distinct if self.distinct else seat_by_weight
        seats = draw(num_games, num_players, self.weights, rng)
        seats[rng.random(num_games) >= self.share] = 0
        return seats

    def advance(self, round_number: int, network: Network, payoffs: Floats, seats: Seats) -> None:
        """Nothing changes."""

    def state_dict(self) -> dict[str, Any]:
        """Nothing is kept."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Nothing is kept."""
