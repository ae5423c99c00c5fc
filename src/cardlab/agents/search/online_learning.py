"""A policy that learns from the search around it: what playouts were paid becomes what its network expects."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch.nn import functional

from cardlab.agents.network_agents import AfterstateAgent, afterstates, observe_after
from cardlab.agents.search.decisions import Finding
from cardlab.games.protocol import InfoStates, Players
from cardlab.games.rows import take


@dataclass
class Pupil:
    """Takes one step of Adam after each search: the candidates' afterstates learn the means of their playouts.

    The wish of the Poker Squares seed's author. The network is changed in place, in memory alone.
    """

    agent: AfterstateAgent
    learning_rate: float
    optimizer: torch.optim.Optimizer = field(init=False)

    def __post_init__(self) -> None:
        """Let the network learn again: a loaded policy does not."""
        self.agent.network.requires_grad_(True)
        self.optimizer = torch.optim.Adam(self.agent.network.parameters(), lr=self.learning_rate)

    def learn(self, info_states: InfoStates, players: Players, findings: Sequence[Finding]) -> int:
        """Learn from the findings [N] of these decisions; gives the number of afterstates that had something to teach.

        Decisions that needed no search, and afterstates that end the game, teach nothing.
        """
        searched = np.array([finding.simulations > 0 for finding in findings])
        values = np.array([finding.values for finding in findings])
        rows, actions = np.nonzero(np.isfinite(values) & searched[:, None])
        owners = players[rows]
        known, moves = take(info_states, rows), actions.astype(np.int16)
        observed = observe_after(self.agent.game, known, owners, moves)
        after = afterstates(self.agent.game, known, owners, moves)
        paid = self.agent.game.payoffs(after.info_states)[np.arange(len(rows)), owners]
        open_ones = np.flatnonzero(~after.over)
        if not open_ones.size:
            return 0
        targets = ((values[rows, actions] - paid) / self.agent.reward_scale).astype(np.float32)[open_ones]
        network = self.agent.network
        with torch.inference_mode(False), torch.enable_grad():
            predicted = network.value(torch.from_numpy(observed[open_ones]).to(network.device))
            loss = functional.mse_loss(predicted, torch.from_numpy(targets).to(network.device))
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
        self.optimizer.step()
        return len(open_ones)
