"""The plain network: one perceptron over the whole observation, one output per action."""

import torch
from torch import Tensor, nn

from cardlab.games.protocol import GameSpec
from cardlab.networks.compiled import fusible
from cardlab.networks.inputs import Inputs, LegalPairs
from cardlab.networks.layers import head, mask_scores, perceptron
from cardlab.networks.options import MLPOptions
from cardlab.networks.protocol import Network

_MANY_ACTIONS = 128  # from here on it is cheaper to compute the scores of legal actions one by one than all at once


class MLP(Network):
    """Observation → trunk → a branch each → scores and value."""

    def __init__(self, spec: GameSpec, options: MLPOptions) -> None:
        super().__init__()
        self.value_range = options.value_range
        self.mixes_rows = options.batch_norm

        def layers(*sizes: int) -> nn.Module:
            return perceptron(
                sizes,
                activation=options.activation,
                layer_norm=options.layer_norm,
                batch_norm=options.batch_norm,
                dropout=options.dropout,
            )

        sizes = (spec.num_features, *options.widths)
        branch = (sizes[-1], *options.head_widths)
        self.actor_trunk = layers(*sizes)
        self.critic_trunk = layers(*sizes) if options.separate_critic else None
        self.actor_branch = layers(*branch)
        self.critic_branch = layers(*branch)
        self.score_head = head(branch[-1], spec.num_actions, 0.01)
        self.value_head = head(branch[-1], 1, 0.1)

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A] and values [N]."""
        scores, values = self._judge(inputs.observations)
        return mask_scores(scores, inputs.legal), values

    def score_legal(self, observations: Tensor, pairs: LegalPairs) -> tuple[Tensor, Tensor]:
        """Scores [K] and values [N]; of many actions only the legal ones are computed."""
        if pairs.num_actions < _MANY_ACTIONS:
            scores, values = self._judge(observations)
            return scores[pairs.rows, pairs.actions], values
        return self._judge_at(observations, pairs.rows, pairs.actions)

    @fusible
    def value(self, observations: Tensor) -> Tensor:
        """Values [N]."""
        trunk = self.actor_trunk if self.critic_trunk is None else self.critic_trunk
        return self._price(trunk(observations))

    @fusible
    def _judge(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.actor_trunk(observations)
        return self.score_head(self.actor_branch(hidden)), self._value_beside(hidden, observations)

    @fusible
    def _judge_at(self, observations: Tensor, rows: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.actor_trunk(observations)
        scores = self.score_head.outputs_at(self.actor_branch(hidden), rows, actions)
        return scores, self._value_beside(hidden, observations)

    def _value_beside(self, hidden: Tensor, observations: Tensor) -> Tensor:
        """Values from the actor's hidden layer, or from a trunk of their own."""
        return self._price(hidden if self.critic_trunk is None else self.critic_trunk(observations))

    def _price(self, hidden: Tensor) -> Tensor:
        values = self.value_head(self.critic_branch(hidden)).squeeze(-1)
        if self.value_range is None:
            return values
        low, high = self.value_range
        return low + (high - low) * (torch.tanh(values) + 1.0) / 2.0
