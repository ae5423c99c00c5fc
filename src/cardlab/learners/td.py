"""Temporal differences over afterstates: a value network, greedy one-step play, TD(λ) to Monte Carlo targets.

The offline form of TD-Gammon (Tesauro 1995): targets are λ-returns over the whole games of a rollout.
"""

import numpy as np
import torch
from numpy.typing import NDArray

from cardlab.agents.network_agents import AfterstateAgent, afterstates, observe_afterstates
from cardlab.games.protocol import Floats, Game
from cardlab.games.record_arrays import copied, take
from cardlab.learners.base import Learner, MetricMeans, Metrics
from cardlab.learners.losses.returns import averaged_returns, end_weights, lambda_returns
from cardlab.learners.losses.value import averaged_bootstrap, explained_variance, regression
from cardlab.learners.options import GREEDY, TDOptions, annealed_epsilon
from cardlab.learners.rollouts.experience import Experience
from cardlab.learners.rollouts.sampled_successors import sample_successors
from cardlab.networks.protocol import Network

_SUCCESSORS_AT_ONCE = 4096  # more would take memory without saving time


class TDLearner(Learner):
    """Values of afterstates by regression on λ-returns."""

    policy_kind = "afterstate"

    def __init__(self, game: Game, network: Network, options: TDOptions, total_iterations: int, seed: int) -> None:
        super().__init__(game, network, options, total_iterations, seed)
        self.options = options

    @property
    def epsilon(self) -> float:
        """Current share of exploring actions."""
        options = self.options
        return annealed_epsilon(options.epsilon_start, options.epsilon, options.epsilon_decay, self.progress)

    def behaviour_agent(self) -> AfterstateAgent:
        """Greedy with exploration by `epsilon`."""
        exploration = (self.epsilon, self.reward_scale, self.options.temperature, self.options.off_policy)
        return AfterstateAgent(self.game, self.network, *exploration)

    def trained_agent(self, game: Game, network: Network) -> AfterstateAgent:
        """Greedy."""
        return AfterstateAgent(game, network, 0.0, self.reward_scale)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam, Adagrad (Duchi et al. 2011) or plain stochastic gradient descent."""
        weights, rate = self.network.parameters(), self.options.learning_rate
        if self.options.optimizer == "sgd":
            return torch.optim.SGD(weights, lr=rate)
        if self.options.optimizer == "adagrad":
            return torch.optim.Adagrad(weights, lr=rate, fused=True)
        return super().configure_optimizers()

    def update(self, experience: Experience) -> Metrics:
        """Minibatches over the afterstates of one rollout."""
        options = self.options
        scale = np.float32(self.reward_scale)
        rewards = experience.rewards / scale
        if options.successors:
            values = self._successor_values(experience)
            returns = averaged_returns(rewards, values, experience.ends, options.gamma, options.td_lambda)
        else:
            traces = self._traces(experience)
            returns = lambda_returns(rewards, experience.values, experience.ends, options.gamma, traces)
        after = afterstates(self.game, copied(experience.info_states), experience.players, experience.actions)
        targets = returns - after.rewards / scale
        weights = torch.from_numpy(end_weights(experience.ends, options.end_decay)).to(self.device)
        open_ones = np.flatnonzero(~after.over)  # a finished game has value 0 by definition
        means = MetricMeans()
        for _ in range(options.epochs):
            for part in self.minibatches(len(open_ones), options.minibatch_size):
                index = open_ones[part]
                varied = self.varied(take(experience.info_states, index), experience.actions[index])
                observations = observe_afterstates(self.game, varied[0], experience.players[index], varied[1])
                predicted = self.network.value(torch.from_numpy(observations).to(self.device))
                wanted = torch.from_numpy(targets[index]).to(self.device)
                loss = regression(predicted, wanted, "mse", weights[index])
                norm = self.gradient_step([(loss, 1.0)], len(index), options.max_grad_norm)
                means.add(value_loss=loss, value=predicted.mean(), grad_norm=norm)
        variance = explained_variance(torch.from_numpy(experience.values), torch.from_numpy(returns))
        return {**means.result(), "explained_variance": float(variance), "epsilon": self.epsilon}

    def _traces(self, experience: Experience) -> float | NDArray[np.float64]:
        """λ; with `off_policy` 0 where the next decision explored (Q(λ), Watkins 1989)."""
        if not self.options.off_policy:
            return self.options.td_lambda
        greedy = experience.log_probabilities > np.log(GREEDY)
        return np.where(np.append(greedy[1:], True), self.options.td_lambda, 0.0)

    def _successor_values(self, experience: Experience) -> Floats:
        """[N] B_t = 1/M Σ_j (r_j + γ max_a Q(s_j, a)) over sampled successors s_j; see `sample_successors`."""
        options, agent = self.options, self.behaviour_agent()
        found = np.empty(len(experience), dtype=np.float32)
        at_once = max(1, _SUCCESSORS_AT_ONCE // options.successors)
        self.network.eval()  # without dropout
        for start in range(0, len(found), at_once):
            part = np.arange(start, min(start + at_once, len(found)))
            after = sample_successors(
                self.game,
                take(experience.info_states, part),
                experience.players[part],
                experience.actions[part],
                agent,
                num_samples=options.successors,
                rng=self.rng,
            )
            values = torch.from_numpy(agent.action_values(after.info_states, after.players))
            ahead = averaged_bootstrap(values.reshape(len(part), options.successors, -1), "mean_of_maxima").numpy()
            paid = after.rewards.reshape(len(part), -1).mean(axis=1)
            found[part] = (paid + options.gamma * ahead) / self.reward_scale
        self.network.train()
        return found
