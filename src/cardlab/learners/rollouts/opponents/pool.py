"""A pool of the learner's checkpoints and other agents, drawn more often if they win more against the learner."""

from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.registry import load_agent
from cardlab.core.options import Flag, Number, Text, Whole, option, options
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Floats, Game
from cardlab.learners.rollouts.opponents.protocol import MAX_OPPONENTS, AgentOf, Seats, Weight, draw_seats

if TYPE_CHECKING:
    from cardlab.networks.protocol import Network

MAX_CHECKPOINTS = 100
HALF_LIFE = 100  # games against an opponent after which earlier results weigh half
PRIOR = 0.5  # win rate against a new opponent
FLOOR = 0.05  # least share of lost games in the priority, so that no opponent is dropped


@options("opponents")
class PoolOptions:
    """Self-play in most games; in the others a pool of checkpoints and other agents."""

    size: Whole = option(8, "most recent checkpoints in the pool", ge=1, le=MAX_CHECKPOINTS)
    every: Whole = option(20, "updates between two checkpoints", ge=1)
    current_share: Number = option(0.8, "share of games that are pure self-play", ge=0, le=1)
    agents: Mapping[Text, Weight] = option(
        {},
        "agent: weight, beside the checkpoints, which weigh 1 each; e.g. {greedy: 2}",
        factory=dict[str, float],
        max_length=MAX_OPPONENTS - MAX_CHECKPOINTS,
    )
    same_agent: Flag = option(False, "true: one agent for all opponents' seats of a game; false: one draw per seat")
    priority: Number = option(
        0.0,
        "exponent p: an agent is drawn by weight · (1 − x)^p, x the learner's recent win rate against it",
        ge=0,
        le=10,
    )

    def build(self, game: Game, agent_of: AgentOf, network: "Network") -> "OpponentPool":
        """The opponents for this game, `network` as first checkpoint; InvalidOption if an agent does not play it."""
        return OpponentPool(self, game, agent_of, network)


class OpponentPool:
    """A ring buffer of checkpoints, and fixed agents.

    A checkpoint that is replaced during a game is replaced in the game, too; the result counts for the new one.
    """

    def __init__(self, options: PoolOptions, game: Game, agent_of: AgentOf, network: "Network") -> None:
        """`network` is the first checkpoint. Raises InvalidOption if a named agent does not play the game."""
        self.options = options
        self.num_saved = 1  # checkpoints so far
        self._networks = [deepcopy(network).eval() for _ in range(options.size)]
        fixed = [load_agent(game, text) for text in options.agents]
        self.agents: list[Agent] = [*map(agent_of, self._networks), *fixed]
        self._results = WinRates(len(self.agents))

    @property
    def win_rates(self) -> Mapping[str, float]:
        """Win rates by opponent: `iteration_N` is the checkpoint after iteration N, other agents have their names."""
        rates = self._results.rates.tolist()
        numbers = range(max(0, self.num_saved - self.options.size), self.num_saved)
        checkpoints = {
            f"iteration_{number * self.options.every}": rates[number % self.options.size] for number in numbers
        }
        return checkpoints | dict(zip(self.options.agents, rates[self.options.size :], strict=True))

    def assign_seats(self, num_games: int, num_players: int, rng: np.random.Generator) -> Seats:
        """Agents [G, P] at the seats."""
        probabilities = self._probabilities()
        seats = draw_seats(num_games, num_players, probabilities, rng, same_agent=self.options.same_agent)
        seats[rng.random(num_games) < self.options.current_share] = 0
        return seats

    def _probabilities(self) -> NDArray[np.float64]:
        """[n] probability that an opponent is drawn for a seat."""
        saved = np.arange(self.options.size) < self.num_saved
        weights = np.concatenate((saved.astype(np.float64), np.array([*self.options.agents.values()])))
        weights *= self._results.priorities(self.options.priority)
        return weights / weights.sum()

    def update(self, iteration: int, network: "Network", payoffs: Floats, seats: Seats) -> None:
        """Count the results, and save a checkpoint of `network` every `options.every` iterations."""
        self._results.add(payoffs, seats)
        if iteration % self.options.every == 0:
            place = self.num_saved % self.options.size
            self._networks[place].load_state_dict(network.state_dict())
            self._results.reset(place)
            self.num_saved += 1

    def state_dict(self) -> dict[str, Any]:
        """Weights of the checkpoints, and win rates: by place for checkpoints, by name for other agents."""
        checkpoints, fixed = np.split(self._results.rates, [self.options.size])
        return {
            "num_saved": self.num_saved,
            "networks": [network.state_dict() for network in self._networks],
            "win_rates": checkpoints.tolist(),
            "agents": dict(zip(self.options.agents, fixed.tolist(), strict=True)),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the content of `state_dict`; agents that it does not contain start at the prior."""
        self.num_saved = int(state["num_saved"])
        checkpoints = state["win_rates"][: self.options.size]
        fixed = [state.get("agents", {}).get(text, PRIOR) for text in self.options.agents]
        self._results.rates[:] = [*checkpoints, *fixed]
        for network, weights in zip(self._networks, state["networks"], strict=True):
            network.load_state_dict(weights)


class WinRates:
    """Win rates x [n] of the learner against each opponent, as exponential moving averages.

    n games with win rate m change x to 2^(−n/h)·x + (1 − 2^(−n/h))·m, where h = HALF_LIFE. A game is won against each
    opponent with a lower payoff; an equal payoff is half a win.
    """

    def __init__(self, num_opponents: int) -> None:
        self.rates = np.full(num_opponents, PRIOR)

    def add(self, payoffs: Floats, seats: Seats) -> None:
        """Add M games by their payoffs [M, P] and seats [M, P]; each pair of learner's and opponent's seat counts."""
        pairs = (seats[:, :, None] == 0) & (seats[:, None, :] > 0)  # [M, P, P] learner's seat, opponent's seat
        outcomes = np.sign(payoffs[:, :, None] - payoffs[:, None, :])[pairs]
        opponents = np.broadcast_to(seats[:, None, :], pairs.shape)[pairs] - 1
        wins = np.bincount(opponents, (1.0 + outcomes) / 2.0, len(self.rates)).astype(np.float64)
        games = np.bincount(opponents, minlength=len(self.rates)).astype(np.float64)
        means = np.divide(wins, games, out=self.rates.copy(), where=games > 0)
        old = 0.5 ** (games / HALF_LIFE)
        self.rates = old * self.rates + (1.0 - old) * means

    def reset(self, place: int) -> None:
        """Set the rate of a replaced opponent to the prior."""
        self.rates[place] = PRIOR

    def priorities(self, exponent: float) -> NDArray[np.float64]:
        """[n] f(x) = (1 − x)^p, which favours opponents that beat the learner; 1 for all with p = 0.

        Prioritised fictitious self-play, f_hard of Vinyals et al. 2019 (Grandmaster level in StarCraft II, methods).
        """
        return np.maximum(1.0 - self.rates, FLOOR) ** exponent
