"""Online learning from search: a value network is fitted to the mean payoffs of the playouts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch.nn import functional

from cardlab.agents.network_agents import AfterstateAgent, afterstates, observe_afterstates
from cardlab.agents.search.search_io import SearchResult
from cardlab.games.protocol import InfoStates, Players
from cardlab.games.record_arrays import take
from cardlab.networks.protocol import Network


@dataclass
class OnlineLearner:
    """Takes one Adam step after each search, towards the mean playout payoff of each candidate's afterstate.

    Proposed as future work in the Poker Squares paper. The network changes in memory; `save` is called with it after
    each step.
    """

    agent: AfterstateAgent
    learning_rate: float
    save: Callable[[Network], object] | None = None
    optimizer: torch.optim.Optimizer = field(init=False)

    def __post_init__(self) -> None:
        """Enable gradients, which are off in a loaded policy."""
        self.agent.network.requires_grad_(True)
        self.optimizer = torch.optim.Adam(self.agent.network.parameters(), lr=self.learning_rate)

    def learn(self, info_states: InfoStates, players: Players, results: Sequence[SearchResult]) -> int:
        """Learn from the results [N] of these decisions; returns the number of afterstates used.

        Decisions without a search and afterstates that end the game are skipped.
        """
        searched = np.array([result.simulations > 0 for result in results])
        values = np.array([result.values for result in results])
        rows, actions = np.nonzero(np.isfinite(values) & searched[:, None])
        owners = players[rows]
        known, moves = take(info_states, rows), actions.astype(np.int16)
        observed = observe_afterstates(self.agent.game, known, owners, moves)
        after = afterstates(self.agent.game, known, owners, moves)
        paid = self.agent.game.payoffs(after.info_states)[np.arange(len(rows)), owners]
        unfinished = np.flatnonzero(~after.over)
        if not unfinished.size:
            return 0
        targets = ((values[rows, actions] - paid) / self.agent.reward_scale).astype(np.float32)[unfinished]
        network = self.agent.network
        with torch.inference_mode(False), torch.enable_grad():
            predicted = network.value(torch.from_numpy(observed[unfinished]).to(network.device))
            loss = functional.mse_loss(predicted, torch.from_numpy(targets).to(network.device))
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
        self.optimizer.step()
        if self.save is not None:
            self.save(network)
        return len(unfinished)
