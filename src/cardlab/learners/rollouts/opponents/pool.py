"""Past selves on a schedule, with other agents beside them; those who still beat the learner may come first."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.registry import load_agent
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Floats, Game
from cardlab.learners.rollouts.opponents.options import PoolOptions
from cardlab.learners.rollouts.opponents.protocol import AgentOf, Seats
from cardlab.learners.rollouts.opponents.seats import seat_alike, seat_by_weight
from cardlab.learners.rollouts.opponents.win_rates import PRIOR, WinShares
from cardlab.networks.protocol import Network


class Pool:
    """A ring of past networks, then fixed agents; where one leaves in mid-game, its successor in the ring plays on.

    The results of such a game are counted for the successor, too.
    """

    def __init__(self, options: PoolOptions, agent_of: AgentOf, network: Network, fixed: Sequence[Agent] = ()) -> None:
        self.options = options
        self.kept = 1
        self._networks = [deepcopy(network).eval() for _ in range(options.size)]
        self.agents: Sequence[Agent] = [*map(agent_of, self._networks), *fixed]
        self._results = WinShares(len(self.agents))

    @classmethod
    def of(cls, options: PoolOptions, game: Game, agent_of: AgentOf, network: Network) -> "Pool":
        """The pool with the agents that the options name."""
        return cls(options, agent_of, network, [load_agent(game, text) for text in options.agents])

    @property
    def win_shares(self) -> Mapping[str, float]:
        """`round_N` for the past self of that round, 0 that of the beginning; and each agent by its name."""
        shares = self._results.shares.tolist()
        numbers = range(max(0, self.kept - self.options.size), self.kept)
        past = {f"round_{number * self.options.every}": shares[number % self.options.size] for number in numbers}
        return past | dict(zip(self.options.agents, shares[self.options.size :], strict=True))

    def seat(self, num_games: int, num_players: int, rng: np.random.Generator) -> Seats:
        """[G, P] who sits where."""
        draw = seat_alike if self.options.same_agent else seat_by_weight
        seats = draw(num_games, num_players, self._chances(), rng)
        seats[rng.random(num_games) < self.options.current_share] = 0
        return seats

    def _chances(self) -> NDArray[np.float64]:
        """[n] how likely each is to be drawn for a seat."""
        present = np.arange(self.options.size) < self.kept
        weights = np.concatenate((present.astype(np.float64), np.array([*self.options.agents.values()])))
        weights *= self._results.priorities(self.options.priority)
        return weights / weights.sum()

    def advance(self, round_number: int, network: Network, payoffs: Floats, seats: Seats) -> None:
        """Count the results, and keep a copy of `network` every so many rounds."""
        self._results.count(payoffs, seats)
        if round_number % self.options.every == 0:
            place = self.kept % self.options.size
            self._networks[place].load_state_dict(network.state_dict())
            self._results.forget(place)
            self.kept += 1

    def state_dict(self) -> dict[str, Any]:
        """The past networks' weights, and the results: by place, and by the names of those that do not change."""
        networks = [network.state_dict() for network in self._networks]
        past, fixed = np.split(self._results.shares, [self.options.size])
        return {
            "kept": self.kept,
            "networks": networks,
            "win_shares": past.tolist(),
            "agents": dict(zip(self.options.agents, fixed.tolist(), strict=True)),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from `state_dict`; of agents that were not there then nothing is known yet."""
        self.kept = int(state["kept"])
        past = state["win_shares"][: self.options.size]
        fixed = [state.get("agents", {}).get(text, PRIOR) for text in self.options.agents]
        self._results.shares[:] = [*past, *fixed]
        for network, weights in zip(self._networks, state["networks"], strict=True):
            network.load_state_dict(weights)
