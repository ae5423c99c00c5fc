"""Proximal policy optimisation (Schulman et al. 2017) with masked actions; the critic may see hidden cards."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.games.protocol import Floats, Game, HasPrivilegedFeatures
from cardlab.games.record_arrays import take
from cardlab.learners.base import Learner, MetricMeans, Metrics
from cardlab.learners.losses import advantages, explained_variance, lambda_returns, regression
from cardlab.learners.ppo.loss import LOSS_METRICS, LossInputs, compiled_ppo_loss, magnet_loss, ppo_loss
from cardlab.learners.ppo.options import PPOOptions
from cardlab.learners.rollouts.experience import Experience
from cardlab.networks.encoded_batch import EncodedDecisions
from cardlab.networks.layers import Critic
from cardlab.networks.protocol import Network

_CRITIC_BATCH = 2048  # decisions


@dataclass(frozen=True, slots=True)
class _Batch:
    """The N decisions of an iteration with their targets."""

    experience: Experience
    returns: Floats  # [N]
    clip_range: float
    entropy_weight: float


class PPOLearner(Learner):
    """Clipped policy gradient with advantages over each player's own decisions."""

    def __init__(self, game: Game, network: Network, options: PPOOptions, total_iterations: int, seed: int) -> None:
        super().__init__(game, network, options, total_iterations, seed)
        self.options = options
        self.cuts_games = options.cut_games
        self.adam_epsilon, self.min_learning_rate = options.adam_epsilon, options.min_learning_rate
        self.critic = None if options.critic == "own" else Critic(game.spec, options.critic_widths)
        self._encoded = EncodedDecisions(network, game)

    @property
    def trained_modules(self) -> tuple[Network | Critic, ...]:
        """The network and, if there is one, the critic."""
        return (self.network,) if self.critic is None else (self.network, self.critic)

    @property
    def needs_states(self) -> bool:
        """Whether the critic sees hidden cards."""
        return self.critic is not None

    def behaviour_agent(self) -> SoftmaxAgent:
        """Sample from the policy."""
        return SoftmaxAgent(self.game, self.network, reward_scale=self.reward_scale)

    def trained_agent(self, game: Game, network: Network) -> SoftmaxAgent:
        """The likeliest action, or a sample, by `agent.greedy`."""
        return SoftmaxAgent(game, network, self.options.greedy, self.reward_scale)

    def policy_options(self) -> dict[str, Any]:
        """Options of SoftmaxAgent."""
        return {"greedy": self.options.greedy, "reward_scale": self.reward_scale}

    def update(self, experience: Experience) -> Metrics:
        """Epochs of minibatches over the decisions of one rollout."""
        options = self.options
        rewards = experience.rewards / np.float32(self.reward_scale)
        if experience.next_values is not None:
            rewards += np.float32(options.gamma) * experience.next_values
        self._encode(experience)
        values = experience.values if self.critic is None else self._evaluate_critic(self.critic, experience)
        returns = lambda_returns(rewards, values, experience.ends, options.gamma, options.gae_lambda)
        advantage = advantages(returns, values)
        clip_range = self._annealed(options.clip_range, "clip_range")
        batch = _Batch(experience, returns, clip_range, self._annealed(options.entropy_weight, "entropy_weight"))
        means = MetricMeans()
        for epoch in range(options.epochs):
            if epoch and options.symmetries:
                self._encode(experience)
            parts = list(self.minibatches(len(experience), options.minibatch_size))
            standardized = self.group.standardize([advantage[part] for part in parts])
            for index, part in zip(parts, standardized, strict=True):
                self._step(batch, index, part, means)
        predicted = {"explained_variance": experience.values, "critic_explained_variance": values}
        explained = {
            name: float(explained_variance(torch.from_numpy(found), torch.from_numpy(returns)))
            for name, found in predicted.items()
            if name == "explained_variance" or self.critic is not None
        }
        return {**means.result(), **explained}

    def _encode(self, experience: Experience) -> None:
        """Encode the decisions of the rollout; with symmetries each in a random equivalent form."""
        info_states, actions = self.augment(experience.info_states, experience.actions)
        self._encoded.encode(info_states, experience.players, actions)

    def _step(self, batch: _Batch, index: NDArray[np.int64], advantage: Floats, means: MetricMeans) -> None:
        """One gradient step on the decisions `index` with their standardised advantages."""
        num = len(index)
        losses = (
            (self._minibatch_loss(batch, index[part], advantage[part], means), len(index[part]) / num)
            for part in self.cache_sized_parts(num)
        )
        means.add(grad_norm=self.gradient_step(losses, num, self.options.max_grad_norm))

    def _minibatch_loss(self, batch: _Batch, index: NDArray[np.int64], advantage: Floats, means: MetricMeans) -> Tensor:
        experience, device = batch.experience, self.device
        minibatch = self._encoded.select(index)
        scores, values = self.network.score_legal(minibatch.observations, minibatch.pairs)
        returns = torch.from_numpy(batch.returns[index]).to(device)
        inputs = LossInputs(
            minibatch.pairs,
            minibatch.chosen,
            torch.from_numpy(experience.log_probabilities[index]).to(device),
            torch.from_numpy(advantage).to(device),
            returns,
            torch.from_numpy(experience.values[index]).to(device) if self.options.clip_value else None,
            torch.tensor(batch.clip_range, device=device),
            torch.tensor(batch.entropy_weight, device=device),
        )
        loss_function = compiled_ppo_loss() if self.network.compiled else ppo_loss
        loss, metrics = loss_function(scores, values, inputs, self.options.value_weight)
        means.add(**dict(zip(LOSS_METRICS, metrics.tolist(), strict=True)))
        if self.options.magnet_weight:
            with torch.no_grad():
                magnet = self.ema_network.score_legal(minibatch.observations, minibatch.pairs)[0]
            logs = minibatch.pairs.log_softmax(scores), minibatch.pairs.log_softmax(magnet)
            divergence = magnet_loss(*logs, len(index))
            means.add(magnet_kl=divergence)
            loss = loss + self.options.magnet_weight * divergence
        if self.critic is not None:
            critic_values = self._critic_values(self.critic, experience, minibatch.observations, index)
            critic_loss = regression(critic_values, returns, "mse")
            means.add(critic_loss=critic_loss)
            loss = loss + critic_loss  # no weight: network and critic share no parameters
        return loss

    def _evaluate_critic(self, critic: Critic, experience: Experience) -> Floats:
        """[N] the critic's values of the encoded rollout, before the updates."""
        values = np.empty(len(experience), dtype=np.float32)
        with torch.no_grad():
            for start in range(0, len(values), _CRITIC_BATCH):
                index = np.arange(start, min(start + _CRITIC_BATCH, len(values)))
                observations = self._encoded.observations[index[0] : index[-1] + 1]
                values[index] = self._critic_values(critic, experience, observations, index).float().cpu().numpy()
        return values

    def _critic_values(
        self, critic: Critic, experience: Experience, observations: Tensor, index: NDArray[np.int64]
    ) -> Tensor:
        """[N] the critic's values of the decisions `index`, whose `observations` are given."""
        assert experience.states is not None
        assert isinstance(self.game, HasPrivilegedFeatures)
        hidden = self.game.privileged(take(experience.states, index), experience.players[index])
        return critic(observations, torch.from_numpy(hidden).to(self.device))

    def _annealed(self, value: float, key: str) -> float:
        return value * (1.0 - self.progress) if getattr(self.options, f"anneal_{key}") else value
