"""Deep Q-learning (Mnih et al. 2015): replay, target network, double and n-step to Monte Carlo targets."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from cardlab.agents.network import ActionValueAgent
from cardlab.experience.memory import ReplayMemory, Transitions
from cardlab.experience.records import Experience
from cardlab.games.protocol import Game, InfoStates, Players
from cardlab.learners.rounds import Means, Metrics, RoundLearner, annealed_epsilon, descend
from cardlab.networks.protocol import Network, encode_for
from cardlab.objectives.returns import n_step_returns
from cardlab.objectives.values import LOSSES, bootstrap, regression, taken
from cardlab.options import check_choice, check_range


@dataclass(frozen=True)
class DQNOptions:
    """`agent=dqn`."""

    name: ClassVar[str] = "dqn"
    gamma: float = 1.0
    epsilon: float = 0.05
    epsilon_start: float | None = None  # anneal from here; none: `epsilon` throughout
    epsilon_decay: float = 0.3  # share of the budget over which it falls
    n_step: int = 0  # own decisions until the target bootstraps; 0: never, Monte Carlo
    double: bool = True
    target_update: int = 10  # rounds between two copies to the target network
    memory_size: int = 200_000
    minibatch_size: int = 2048
    updates_per_round: int = 16
    loss: str = "mse"
    learning_rate: float = 1e-3
    anneal_learning_rate: bool = True
    max_grad_norm: float = 10.0
    reward_scale: float = 1.0  # payoffs are divided by it
    decisions_per_round: int = 8192

    def __post_init__(self) -> None:
        check_range("agent.gamma", self.gamma, 0, 1)
        check_range("agent.epsilon", self.epsilon, 0, 1)
        if self.epsilon_start is not None:
            check_range("agent.epsilon_start", self.epsilon_start, 0, 1)
        check_range("agent.epsilon_decay", self.epsilon_decay, 0, 1)
        check_range("agent.n_step", self.n_step, 0, whole=True)
        check_range("agent.target_update", self.target_update, 1, whole=True)
        check_range("agent.memory_size", self.memory_size, 1, whole=True)
        check_range("agent.minibatch_size", self.minibatch_size, 1, whole=True)
        check_range("agent.updates_per_round", self.updates_per_round, 1, whole=True)
        check_choice("agent.loss", self.loss, LOSSES)
        check_range("agent.learning_rate", self.learning_rate, 0, 1, open_low=True)
        check_range("agent.max_grad_norm", self.max_grad_norm, 0, open_low=True)
        check_range("agent.reward_scale", self.reward_scale, 0, open_low=True)
        check_range("agent.decisions_per_round", self.decisions_per_round, 1, whole=True)

    def build(self, game: Game, network: Network, total_rounds: int, seed: int) -> "DQNLearner":
        """The learner of `network`."""
        return DQNLearner(game, network, self, total_rounds, seed)


class DQNLearner(RoundLearner):
    """Action values by regression on what the games paid; the loss is on the action taken only."""

    plays = "action_value"

    def __init__(self, game: Game, network: Network, options: DQNOptions, total_rounds: int, seed: int) -> None:
        super().__init__(game, network, options, total_rounds, seed)
        self.options = options
        self.target_network = deepcopy(network).requires_grad_(False)
        self.memory = ReplayMemory(options.memory_size, game.state_dtype)

    @property
    def epsilon(self) -> float:
        """Exploration now."""
        options = self.options
        return annealed_epsilon(options.epsilon_start, options.epsilon, options.epsilon_decay, self.progress)

    def learning_agent(self) -> ActionValueAgent:
        """Explores with epsilon."""
        return ActionValueAgent(self.game, self.network, self.epsilon, self.options.reward_scale)

    def playing_agent(self, game: Game, network: Network) -> ActionValueAgent:
        """Greedy."""
        return ActionValueAgent(game, network, 0.0, self.options.reward_scale)

    def update(self, experience: Experience) -> Metrics:
        """Remember the round, then learn from draws of the memory."""
        options = self.options
        rewards = experience.rewards / np.float32(options.reward_scale)
        sums, discounts, following = n_step_returns(rewards, experience.ends, options.gamma, options.n_step)
        ahead = InfoStates(experience.info_states[following])
        self.memory.add(
            Transitions(experience.info_states, experience.players, experience.actions, sums, discounts, ahead)
        )
        means = Means()
        for _ in range(options.updates_per_round):
            self._step(self.memory.draw(options.minibatch_size, self.rng), means)
        if (self.rounds_done + 1) % options.target_update == 0:
            self.target_network.load_state_dict(self.network.state_dict())
        return {**means.result(), "epsilon": self.epsilon, "memory": float(len(self.memory))}

    def _step(self, drawn: Transitions, means: Means) -> None:
        targets = torch.from_numpy(drawn.sums).to(self.device)
        if drawn.discounts.any():
            with torch.no_grad():
                discounts = torch.from_numpy(drawn.discounts).to(self.device)
                targets = targets + discounts * self._bootstrap(drawn.next_info_states, drawn.players)
        scores = self._scores(self.network, drawn.info_states, drawn.players)
        predicted = taken(scores, torch.from_numpy(drawn.actions.astype(np.int64)).to(self.device))
        loss = regression(predicted, targets, self.options.loss)
        norm = descend(loss, self.optimizer, self.network, self.options.max_grad_norm)
        means.add(**{"loss/value": loss, "action_value": predicted.mean(), "grad_norm": norm})

    def _bootstrap(self, info_states: InfoStates, players: Players) -> Tensor:
        judged = self._scores(self.target_network, info_states, players)
        chosen = self._scores(self.network, info_states, players) if self.options.double else judged
        return bootstrap(chosen, judged, double=self.options.double)

    def _scores(self, network: Network, info_states: InfoStates, players: Players) -> Tensor:
        return network(encode_for(network, self.game, info_states, players))[0]

    def extra_state(self) -> dict[str, Any]:
        """The memory; the target network is a part of the module."""
        return {"memory": self.memory.state_dict()}

    def load_extra_state(self, state: Mapping[str, Any]) -> None:
        """Go on with the memory."""
        self.memory.load_state_dict(state["memory"])
