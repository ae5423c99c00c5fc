"""A multilayer perceptron over the whole observation, with one score per action."""

import torch
from torch import Tensor, nn

from cardlab.games.protocol import GameSpec
from cardlab.networks.compiled import compilable
from cardlab.networks.inputs import Inputs, LegalPairs
from cardlab.networks.layers import head, initialize, mask_scores, perceptron
from cardlab.networks.mlp_options import MLPOptions
from cardlab.networks.protocol import Network

_MANY_ACTIONS = 128  # from this number on, computing legal scores only is faster than computing all


class MLP(Network):
    """Observation → trunk → a branch for the scores and a branch for the value."""

    def __init__(self, spec: GameSpec, options: MLPOptions) -> None:
        super().__init__()
        self.value_range = options.value_range
        self.depends_on_batch = options.batch_norm
        disturbed = options.layer_norm or options.batch_norm or options.dropout
        self.plain_activation = None if disturbed else options.activation

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
        initialize(self, options.init, self.value_head)

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A] and values [N]."""
        scores, values = self._scores_and_values(inputs.observations)
        return mask_scores(scores, inputs.legal), values

    def score_legal(self, observations: Tensor, pairs: LegalPairs) -> tuple[Tensor, Tensor]:
        """Scores [K] and values [N]; with many actions only the legal scores are computed."""
        if pairs.num_actions < _MANY_ACTIONS:
            scores, values = self._scores_and_values(observations)
            return scores[pairs.rows, pairs.actions], values
        return self._legal_scores_and_values(observations, pairs.rows, pairs.actions)

    def value_layers(self) -> list[nn.Linear]:
        """The linear layers from the observation to the value, in order."""
        parts = (self.critic_trunk or self.actor_trunk, self.critic_branch, self.value_head)
        return [layer for part in parts for layer in part.modules() if isinstance(layer, nn.Linear)]

    @compilable
    def value(self, observations: Tensor) -> Tensor:
        """Values [N]."""
        return self._values(None, observations)

    @compilable
    def _scores_and_values(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.actor_trunk(observations)
        return self.score_head(self.actor_branch(hidden)), self._values(hidden, observations)

    @compilable
    def _legal_scores_and_values(self, observations: Tensor, rows: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.actor_trunk(observations)
        scores = self.score_head.outputs_at(self.actor_branch(hidden), rows, actions)
        return scores, self._values(hidden, observations)

    def _values(self, hidden: Tensor | None, observations: Tensor) -> Tensor:
        """Values [N]; `hidden` is the output of the actor's trunk if it is computed already."""
        if self.critic_trunk is not None:
            hidden = self.critic_trunk(observations)
        elif hidden is None:
            hidden = self.actor_trunk(observations)
        values = self.value_head(self.critic_branch(hidden)).squeeze(-1)
        if self.value_range is None:
            return values
        low, high = self.value_range
        return low + (high - low) * (torch.tanh(values) + 1.0) / 2.0
