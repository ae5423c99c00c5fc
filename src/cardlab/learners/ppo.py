"""Proximal policy optimisation (Schulman et al. 2017) with masked actions; its critic may see all the cards."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.games.protocol import Floats, Game, HasPrivilegedFeatures
from cardlab.games.rows import take
from cardlab.learners.base import Means, Metrics, RoundLearner
from cardlab.learners.losses.policy_gradient import clipped_surrogate, mean_entropy
from cardlab.learners.losses.returns import advantages, lambda_returns
from cardlab.learners.losses.value import explained_variance, regression
from cardlab.learners.options import PPOOptions
from cardlab.learners.rollouts.experience import Experience
from cardlab.networks.critic import Critic
from cardlab.networks.encoded_batch import EncodedDecisions
from cardlab.networks.inputs import LegalPairs
from cardlab.networks.protocol import Network

_ROWS_AT_ONCE = 2048  # appraised by the critic before a round's updates


@dataclass(frozen=True, slots=True)
class _Lesson:
    """What an epoch learns from: N decisions."""

    experience: Experience
    returns: Floats  # [N]
    clip_range: float
    entropy_weight: float


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the loss of N decisions is made of, beside the network's answers."""

    pairs: LegalPairs
    taken: Tensor  # [N] which of them are those of the actions taken
    behaviour: Tensor  # [N] log-probabilities of these when they were chosen
    gains: Tensor  # [N] advantages, standardised
    returns: Tensor  # [N]
    clip_range: Tensor  # scalar, as the next: a number that changes would be translated anew
    entropy_weight: Tensor


_TERMS = ("loss/policy", "loss/value", "entropy", "divergence", "clipped")


def _objective(scores: Tensor, values: Tensor, wanted: _Wanted, value_weight: float) -> tuple[Tensor, Tensor]:
    """The loss of scores [K] and values [N], and its _TERMS [5] (Schulman et al. 2017, equation 9)."""
    log_probabilities = wanted.pairs.log_softmax(scores)
    chosen = log_probabilities.index_select(0, wanted.taken)
    terms = clipped_surrogate(chosen, wanted.behaviour, wanted.gains, wanted.clip_range)
    entropy = mean_entropy(log_probabilities, len(wanted.taken))
    value_loss = regression(values, wanted.returns, "mse")
    loss = terms.surrogate - wanted.entropy_weight * entropy + value_weight * value_loss
    parts = (terms.surrogate, value_loss, entropy, terms.divergence, terms.clipped)
    return loss, torch.stack([part.detach() for part in parts])


_translated_objective: Any = torch.compile(_objective, dynamic=True)  # nothing is compiled before it is called


class PPOLearner(RoundLearner):
    """Clipped policy gradient on advantages over each player's own decisions."""

    policy_kind = "softmax"

    def __init__(self, game: Game, network: Network, options: PPOOptions, total_rounds: int, seed: int) -> None:
        super().__init__(game, network, options, total_rounds, seed)
        self.options = options
        self.critic = None if options.critic == "own" else Critic(game.spec, options.critic_widths)
        self._decided = EncodedDecisions(network, game)

    @property
    def trained(self) -> tuple[Network | Critic, ...]:
        """The network, and beside it the critic that sees all."""
        return (self.network,) if self.critic is None else (self.network, self.critic)

    @property
    def needs_states(self) -> bool:
        """Whether there is a critic that sees them."""
        return self.critic is not None

    def learning_agent(self) -> SoftmaxAgent:
        """Samples from the policy."""
        return SoftmaxAgent(self.game, self.network, reward_scale=self.reward_scale)

    def playing_agent(self, game: Game, network: Network) -> SoftmaxAgent:
        """As the trained policy plays."""
        return SoftmaxAgent(game, network, self.options.greedy, self.reward_scale)

    def policy_options(self) -> dict[str, Any]:
        """Those of SoftmaxAgent."""
        return {"greedy": self.options.greedy, "reward_scale": self.reward_scale}

    def update(self, experience: Experience) -> Metrics:
        """Epochs of minibatches over one round's decisions."""
        options = self.options
        rewards = experience.rewards / np.float32(self.reward_scale)
        self._encode(experience)
        values = experience.values if self.critic is None else self._appraise(self.critic, experience)
        returns = lambda_returns(rewards, values, experience.ends, options.gamma, options.gae_lambda)
        gains = advantages(returns, values)
        clip_range = self._annealed(options.clip_range, "clip_range")
        lesson = _Lesson(experience, returns, clip_range, self._annealed(options.entropy_weight, "entropy_weight"))
        means = Means()
        for epoch in range(options.epochs):
            if epoch and options.symmetries:
                self._encode(experience)
            parts = list(self.minibatches(len(experience), options.minibatch_size))
            for index, gain in zip(parts, self.ranks.standardize([gains[part] for part in parts]), strict=True):
                self._step(lesson, index, gain, means)
        judges = {"": experience.values} if self.critic is None else {"": experience.values, "/critic": values}
        explained = {
            f"explained_variance{name}": float(explained_variance(torch.from_numpy(seen), torch.from_numpy(returns)))
            for name, seen in judges.items()
        }
        return {**means.result(), **explained}

    def _encode(self, experience: Experience) -> None:
        """Encode the round's decisions, with symmetries each in an equivalent form."""
        info_states, actions = self.varied(experience.info_states, experience.actions)
        self._decided.encode(info_states, experience.players, actions)

    def _step(self, lesson: "_Lesson", index: NDArray[np.int64], gains: Floats, means: Means) -> None:
        """Down the loss of the decisions `index` with these gains, standardised."""
        num = len(index)
        losses = (
            (self._loss(lesson, index[part], gains[part], means), len(index[part]) / num)
            for part in self.parts_in_cache(num)
        )
        means.add(grad_norm=self.descend(losses, num, self.options.max_grad_norm))

    def _loss(self, lesson: "_Lesson", index: NDArray[np.int64], gains: Floats, means: Means) -> Tensor:
        experience, device = lesson.experience, self.device
        picked = self._decided.pick(index)
        scores, values = self.network.score_legal(picked.observations, picked.pairs)
        returns = torch.from_numpy(lesson.returns[index]).to(device)
        wanted = _Wanted(
            picked.pairs,
            picked.taken,
            torch.from_numpy(experience.log_probabilities[index]).to(device),
            torch.from_numpy(gains).to(device),
            returns,
            torch.tensor(lesson.clip_range, device=device),
            torch.tensor(lesson.entropy_weight, device=device),
        )
        objective = _translated_objective if self.network.fused else _objective
        loss, terms = objective(scores, values, wanted, self.options.value_weight)
        means.add(**dict(zip(_TERMS, terms.tolist(), strict=True)))
        if self.critic is not None:
            critic_loss = regression(self._judged(self.critic, experience, picked.observations, index), returns, "mse")
            means.add(**{"loss/critic": critic_loss})
            loss = loss + critic_loss  # they share no weights: it needs none
        return loss

    def _appraise(self, critic: Critic, experience: Experience) -> Floats:
        """[N] the critic's values of a round that is encoded, before its updates."""
        values = np.empty(len(experience), dtype=np.float32)
        with torch.no_grad():
            for start in range(0, len(values), _ROWS_AT_ONCE):
                index = np.arange(start, min(start + _ROWS_AT_ONCE, len(values)))
                judged = self._judged(critic, experience, self._decided.observations[index[0] : index[-1] + 1], index)
                values[index] = judged.float().cpu().numpy()
        return values

    def _judged(self, critic: Critic, experience: Experience, observations: Tensor, index: NDArray[np.int64]) -> Tensor:
        """[N] the critic's values of the decisions `index`, which the player sees as `observations`."""
        assert experience.states is not None
        assert isinstance(self.game, HasPrivilegedFeatures)
        hidden = self.game.privileged(take(experience.states, index), experience.players[index])
        return critic(observations, torch.from_numpy(hidden).to(self.device))

    def _annealed(self, value: float, key: str) -> float:
        return value * (1.0 - self.progress) if getattr(self.options, f"anneal_{key}") else value
