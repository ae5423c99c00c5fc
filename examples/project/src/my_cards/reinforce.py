"""REINFORCE (Williams 1992): the policy gradient with the network's value as baseline."""

import numpy as np
import torch
from torch import Tensor

from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.core.options import Number, option, options
from cardlab.games.record_arrays import take
from cardlab.learners.base import Learner, MetricMeans
from cardlab.learners.hyperparameters import (
    AnnealLearningRate,
    DecisionsPerIteration,
    EmaDecay,
    Gamma,
    LearningRate,
    MaxGradNorm,
    Minibatch,
    RewardScale,
    Symmetries,
)
from cardlab.learners.losses import lambda_returns
from cardlab.networks.protocol import encode_legal_for


@options("agent")
class ReinforceOptions:
    """REINFORCE with a value baseline (Williams 1992)."""

    gamma: Gamma = 1.0
    entropy_weight: Number = option(0.01, "weight of the entropy bonus", ge=0)
    learning_rate: LearningRate = 3e-3
    anneal_learning_rate: AnnealLearningRate = True
    decisions_per_iteration: DecisionsPerIteration = 2048
    minibatch_size: Minibatch = 512
    max_grad_norm: MaxGradNorm = 1.0
    reward_scale: RewardScale = None
    ema_decay: EmaDecay = 0.0
    symmetries: Symmetries = False

    def build(self, game, network, total_iterations, seed):
        """The learner that trains `network`."""
        return ReinforceLearner(game, network, self, total_iterations, seed)


def policy_gradient(log_probabilities: Tensor, values: Tensor, returns: Tensor) -> Tensor:
    """Loss −mean((G − V)·log π(a)) + ½·mean((G − V)²) of the actions taken; all three are [N]."""
    errors = returns - values
    return 0.5 * errors.square().mean() - (errors.detach() * log_probabilities).mean()


class ReinforceLearner(Learner):
    """Learns from whole games; collection, opponents, checkpoints and the learning curve are cardlab's."""

    def __init__(self, game, network, options, total_iterations, seed):
        super().__init__(game, network, options, total_iterations, seed)
        self.options = options

    def behaviour_agent(self):
        """Samples from the policy."""
        return SoftmaxAgent(self.game, self.network, reward_scale=self.reward_scale)

    def trained_agent(self, game, network):
        """Samples, too: the best strategies of Kuhn poker are mixed."""
        return SoftmaxAgent(game, network, **self.policy_options())

    def policy_options(self):
        """Options of the trained agent, written to its policy."""
        return {"greedy": False, "reward_scale": self.reward_scale}

    def update(self, experience):
        """One pass over the games of an iteration."""
        options = self.options
        rewards = experience.rewards / np.float32(self.reward_scale)
        returns = lambda_returns(rewards, experience.values, experience.ends, options.gamma, 1.0)
        means = MetricMeans()
        for index in self.minibatches(len(experience), options.minibatch_size):
            info_states, players = take(experience.info_states, index), experience.players[index]
            observations, pairs = encode_legal_for(self.network, self.game, info_states, players)
            scores, values = self.network.score_legal(observations, pairs)
            log_probabilities = pairs.dense(pairs.log_softmax(scores))  # [N, A]
            actions = torch.from_numpy(experience.actions[index].astype(np.int64)).to(self.device)
            chosen = log_probabilities.gather(1, actions[:, None]).squeeze(1)
            loss = policy_gradient(chosen, values, torch.from_numpy(returns[index]).to(self.device))
            entropy = -(log_probabilities.exp() * log_probabilities.clamp(min=-1e9)).sum(dim=1).mean()
            total = loss - options.entropy_weight * entropy
            norm = self.gradient_step([(total, 1.0)], len(index), options.max_grad_norm)
            means.add(loss=loss, entropy=entropy, grad_norm=norm)
        return means.result()
