"""Encoded legal actions scored against the encoded state: only what is legal costs anything.

The action is an input (DouZero, Zha et al. 2021): one score head serves 3 actions and 1,695 alike.
"""

import torch
from torch import Tensor

from cardlab.games.protocol import GameSpec
from cardlab.networks.compiled import fusible
from cardlab.networks.inputs import Inputs, LegalPairs
from cardlab.networks.layers import head, perceptron
from cardlab.networks.options import ActionsOptions
from cardlab.networks.protocol import Network

_UNREAD = "this network reads actions: encode with reads_actions=True"


class ActionsNetwork(Network):
    """State and action encoders, a joint layer, one score per legal action."""

    reads_actions = True

    def __init__(self, spec: GameSpec, options: ActionsOptions) -> None:
        super().__init__()
        activation = options.activation
        self.num_actions = spec.num_actions
        self.state = perceptron((spec.num_features, *options.state_widths), activation=activation)
        self.action = perceptron((spec.num_action_features, *options.action_widths), activation=activation)
        first, *others = options.joint_widths
        self.state_to_joint = torch.nn.Linear(options.state_widths[-1], first)
        self.action_to_joint = torch.nn.Linear(options.action_widths[-1], first, bias=False)
        self.activate = torch.nn.ReLU()
        self.joint = perceptron((first, *others), activation=activation)
        self.score_head = head(options.joint_widths[-1], 1, 0.1)
        self.value_head = head(options.state_widths[-1], 1, 0.1)

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A] and values [N]; needs `inputs.choices`."""
        if inputs.choices is None:
            raise ValueError(_UNREAD)
        chosen, values = self.score_legal(inputs.observations, inputs.choices)
        scores = chosen.new_full((len(values), self.num_actions), -torch.inf)
        return scores.index_put((inputs.choices.rows, inputs.choices.actions), chosen), values

    def score_legal(self, observations: Tensor, pairs: LegalPairs) -> tuple[Tensor, Tensor]:
        """Scores [K] and values [N]; needs the pairs' features."""
        if pairs.features is None:
            raise ValueError(_UNREAD)
        return self._judge(observations, pairs.rows, pairs.features)

    @fusible
    def _judge(self, observations: Tensor, rows: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        state = self.state(observations)
        joint = self.state_to_joint(state).index_select(0, rows)
        joint = joint + self.action_to_joint(self.action(features))
        scores = self.score_head(self.joint(self.activate(joint))).squeeze(-1)
        return scores, self.value_head(state).squeeze(-1)

    @fusible
    def value(self, observations: Tensor) -> Tensor:
        """Values [N]."""
        return self.value_head(self.state(observations)).squeeze(-1)
