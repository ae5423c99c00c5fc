"""Opponents that do not change: agents by name, or none but the learner itself."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardlab.agents.registry import load_agent
from cardlab.games.protocol import Floats, Game
from cardlab.learners.rollouts.opponents.protocol import Seats
from cardlab.learners.rollouts.opponents.seats import draw_distinct_seats, draw_seats
from cardlab.networks.protocol import Network


class FixedOpponents:
    """Agents in proportion to their weights in a `share` of the games; the rest is self-play."""

    def __init__(self, weights: Mapping[str, float], game: Game, share: float, distinct: bool = False) -> None:
        """`weights` maps names of agents to weights; with `distinct` no agent has two seats of a game."""
        self.agents = [load_agent(game, text) for text in weights]
        self._weights = np.array(list(weights.values()), dtype=np.float64)
        if len(weights):
            self._weights /= self._weights.sum()
        self._share = share
        self._draw = draw_distinct_seats if distinct else draw_seats

    @property
    def win_rates(self) -> Mapping[str, float]:
        """Empty: results are not tracked."""
        return {}

    def assign_seats(self, num_games: int, num_players: int, rng: np.random.Generator) -> Seats:
        """Agents [G, P] at the seats."""
        if self._share <= 0 or not self.agents:
            return np.zeros((num_games, num_players), dtype=np.int8)
        seats = self._draw(num_games, num_players, self._weights, rng)
        seats[rng.random(num_games) >= self._share] = 0
        return seats

    def update(self, iteration: int, network: Network, payoffs: Floats, seats: Seats) -> None:
        """Does nothing."""

    def state_dict(self) -> dict[str, Any]:
        """Empty."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Does nothing."""
