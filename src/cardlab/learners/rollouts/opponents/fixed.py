"""Opponents that do not change: none but the learner itself, or agents by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.registry import load_agent
from cardlab.core.options import InvalidOption, check_range
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Floats, Game
from cardlab.learners.rollouts.opponents.protocol import AgentOf, Seats
from cardlab.learners.rollouts.opponents.seats import seat_by_weight, seat_distinct
from cardlab.networks.protocol import Network


@dataclass(frozen=True)
class SelfPlayOptions:
    """`opponents=self_play`: the learner sits everywhere, and learns from every seat."""

    name: ClassVar[str] = "self_play"

    def build(self, game: Game, agent_of: AgentOf, network: Network) -> "FixedField":
        """The field for this game."""
        return FixedField((), np.zeros(0), share=0.0)


@dataclass(frozen=True)
class ScriptedOptions:
    """`opponents=scripted`: agents by name, trained policies by folder, drawn for each other seat by weight."""

    name: ClassVar[str] = "scripted"
    agents: Mapping[str, float] = field(default_factory=lambda: {"random": 1.0})  # name[:key:value…] or folder → weight
    share: float = 1.0  # of the games that are played against them; the others are self-play
    distinct: bool = False  # whether no agent sits at a table twice

    def __post_init__(self) -> None:
        check_range("opponents.share", self.share, 0, 1)
        for text, weight in self.agents.items():
            check_range(f"opponents.agents.{text}", weight, 0)
        if not sum(self.agents.values()) > 0:
            raise InvalidOption("opponents.agents", dict(self.agents), "agents with weights, one above 0 at least")

    def build(self, game: Game, agent_of: AgentOf, network: Network) -> "FixedField":
        """The field for this game; InvalidOption when an agent does not play it."""
        weights = np.array(list(self.agents.values()), dtype=np.float64)
        others = game.spec.num_players - 1
        if self.distinct and np.count_nonzero(weights) < others:
            raise InvalidOption("opponents.distinct", True, f"false with fewer than {others} agents of weight above 0")
        agents = [load_agent(game, text) for text in self.agents]
        return FixedField(agents, weights / weights.sum(), self.share, self.distinct)


@dataclass
class FixedField:
    """Opponents that do not change."""

    agents: Sequence[Agent]
    weights: NDArray[np.float64]
    share: float
    distinct: bool = False

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
