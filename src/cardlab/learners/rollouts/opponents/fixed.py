"""Opponents that do not change: agents by name, or none but the learner itself."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cardlab.agents.registry import load_agent
from cardlab.core.options import Flag, Number, Text, invalid, option, options
from cardlab.games.protocol import Floats, Game
from cardlab.learners.rollouts.opponents.protocol import (
    MAX_OPPONENTS,
    AgentOf,
    Seats,
    Weight,
    draw_distinct_seats,
    draw_seats,
)

if TYPE_CHECKING:
    from cardlab.networks.protocol import Network


@options("opponents")
class SelfPlayOptions:
    """Self-play: the learner plays at every seat and learns from every seat."""

    def build(self, game: Game, agent_of: AgentOf, network: "Network") -> "FixedOpponents":
        """The opponents for this game."""
        return FixedOpponents({}, game, share=0.0)


@options("opponents")
class ScriptedOptions:
    """Fixed opponents, scripted or trained; the learner learns a best response to them."""

    agents: Mapping[Text, Weight] = option(
        {},
        "agent: weight; an agent is a name with options (threshold:level:30), a policy's folder or champion",
        factory=lambda: {"random": 1.0},
        max_length=MAX_OPPONENTS,
    )
    share: Number = option(1.0, "share of games against these agents; the others are self-play", ge=0, le=1)
    distinct: Flag = option(False, "true: no agent has two seats in a game")

    def __post_init__(self) -> None:
        if not sum(self.agents.values()) > 0:
            raise invalid(self, "agents", "agents with weights, at least one of them above 0")

    def build(self, game: Game, agent_of: AgentOf, network: "Network") -> "FixedOpponents":
        """The opponents for this game; InvalidOption if an agent does not play it."""
        others = game.spec.num_players - 1
        if self.distinct and sum(weight > 0 for weight in self.agents.values()) < others:
            raise invalid(self, "distinct", f"false with fewer than {others} agents of weight above 0")
        return FixedOpponents(self.agents, game, self.share, self.distinct)


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

    def update(self, iteration: int, network: "Network", payoffs: Floats, seats: Seats) -> None:
        """Does nothing."""

    def state_dict(self) -> dict[str, Any]:
        """Empty."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Does nothing."""
