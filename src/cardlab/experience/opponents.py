"""Who sits beside the learner while it gathers experience.

Agent 0 is always the learner as it is now; only its decisions become samples.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.loading import load_agent
from cardlab.games.protocol import Game
from cardlab.networks.protocol import Network
from cardlab.options import InvalidOption, check_range
from cardlab.playing.protocol import Agent

Seats = NDArray[np.int8]
AgentOf = Callable[[Network], Agent]  # how the learner's kind of agent plays a network, without exploring


class Opponents(Protocol):
    """A changing field of opponents."""

    @property
    def agents(self) -> Sequence[Agent]:
        """Agents 1, 2, …: those that `seat` may name, beside the learner."""
        ...

    def seat(self, num_games: int, num_players: int, rng: np.random.Generator) -> Seats:
        """[G, P] who sits where in new games; 0 is the learner, at one seat at least."""
        ...

    def advance(self, round_number: int, network: Network) -> None:
        """Tell that round `round_number` (from 1) is done and the learner's network is now this."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """All that a resumed run needs, as tensors and plain values."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict`."""
        ...


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


@dataclass(frozen=True)
class PoolOptions:
    """`opponents=pool`: past selves, kept on a schedule."""

    name: ClassVar[str] = "pool"
    size: int = 8  # past selves kept; the oldest leaves
    every: int = 20  # rounds between two that are kept
    current_share: float = 0.8  # of the games that are pure self-play

    def __post_init__(self) -> None:
        check_range("opponents.size", self.size, 1, 100, whole=True)
        check_range("opponents.every", self.every, 1, whole=True)
        check_range("opponents.current_share", self.current_share, 0, 1)

    def build(self, game: Game, agent_of: AgentOf, network: Network) -> "PastSelves":
        """The field for this game, with the fresh network as its first past self."""
        return PastSelves(self, agent_of, network)


OPPONENTS = {options.name: options for options in (SelfPlayOptions, ScriptedOptions, PoolOptions)}


def _seat_distinct(num_games: int, num_players: int, weights: NDArray[Any], rng: np.random.Generator) -> Seats:
    """[G, P] the learner at one random seat, opponents at the others, drawn by weight without replacement.

    The P − 1 largest of u^(1/w), u uniform, are such a draw (Efraimidis and Spirakis 2006).
    """
    with np.errstate(divide="ignore"):
        keys = np.log(rng.random((num_games, len(weights)))) / weights
    drawn = np.argsort(-keys, axis=1)[:, : num_players - 1].astype(np.int8) + np.int8(1)
    seats = np.concatenate((np.zeros((num_games, 1), dtype=np.int8), drawn), axis=1)
    return rng.permuted(seats, axis=1)


def _seat_learner(num_games: int, num_players: int, weights: NDArray[Any], rng: np.random.Generator) -> Seats:
    """[G, P] the learner at one random seat, opponents drawn by weight at the others."""
    seats = rng.choice(len(weights), size=(num_games, num_players), p=weights).astype(np.int8) + np.int8(1)
    seats[np.arange(num_games), rng.integers(num_players, size=num_games)] = 0
    return seats


@dataclass
class FixedField:
    """Opponents that do not change."""

    agents: Sequence[Agent]
    weights: NDArray[np.float64]
    share: float
    distinct: bool = False

    def seat(self, num_games: int, num_players: int, rng: np.random.Generator) -> Seats:
        """[G, P] who sits where."""
        if self.share <= 0 or not len(self.weights):
            return np.zeros((num_games, num_players), dtype=np.int8)
        draw = _seat_distinct if self.distinct else _seat_learner
        seats = draw(num_games, num_players, self.weights, rng)
        seats[rng.random(num_games) >= self.share] = 0
        return seats

    def advance(self, round_number: int, network: Network) -> None:
        """Nothing changes."""

    def state_dict(self) -> dict[str, Any]:
        """Nothing is kept."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Nothing is kept."""


class PastSelves:
    """A ring of past networks; where one leaves in mid-game, the one that took its place plays on."""

    def __init__(self, options: PoolOptions, agent_of: AgentOf, network: Network) -> None:
        self.options = options
        self.kept = 1
        self._networks = [deepcopy(network).eval() for _ in range(options.size)]
        self.agents: Sequence[Agent] = [agent_of(past) for past in self._networks]

    def seat(self, num_games: int, num_players: int, rng: np.random.Generator) -> Seats:
        """[G, P] who sits where."""
        present = min(self.kept, self.options.size)
        seats = _seat_learner(num_games, num_players, np.full(present, 1.0 / present), rng)
        seats[rng.random(num_games) < self.options.current_share] = 0
        return seats

    def advance(self, round_number: int, network: Network) -> None:
        """Keep a copy of `network` every so many rounds."""
        if round_number % self.options.every == 0:
            self._networks[self.kept % self.options.size].load_state_dict(network.state_dict())
            self.kept += 1

    def state_dict(self) -> dict[str, Any]:
        """The past networks' weights."""
        return {"kept": self.kept, "networks": [network.state_dict() for network in self._networks]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict`."""
        self.kept = int(state["kept"])
        for network, weights in zip(self._networks, state["networks"], strict=True):
            network.load_state_dict(weights)
