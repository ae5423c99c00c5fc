"""A network that scores encoded legal actions against the encoded state; illegal actions cost nothing.

The action is an input (DouZero, Zha et al. 2021), so one score head fits any number of actions.
"""

import torch
from torch import Tensor

from cardlab.games.protocol import GameSpec
from cardlab.networks.actions_options import ActionsOptions
from cardlab.networks.compiled import compilable
from cardlab.networks.inputs import LegalPairs, described
from cardlab.networks.layers import ACTIVATIONS, head, perceptron
from cardlab.networks.protocol import ActionInputNetwork


class ActionsNetwork(ActionInputNetwork):
    """State encoder and action encoder → joint layers → one score per legal action; the state gives the value."""

    def __init__(self, spec: GameSpec, options: ActionsOptions) -> None:
        super().__init__()
        activation = options.activation
        self.state = perceptron((spec.num_features, *options.state_widths), activation=activation)
        self.action = perceptron((spec.num_action_features, *options.action_widths), activation=activation)
        first, *others = options.joint_widths
        self.state_to_joint = torch.nn.Linear(options.state_widths[-1], first)
        self.action_to_joint = torch.nn.Linear(options.action_widths[-1], first, bias=False)
        self.activate = ACTIVATIONS[activation]()
        self.joint = perceptron((first, *others), activation=activation)
        self.score_head = head(options.joint_widths[-1], 1, 0.1)
        self.value_head = head(options.state_widths[-1], 1, 0.1)

    def score_legal(self, observations: Tensor, pairs: LegalPairs) -> tuple[Tensor, Tensor]:
        """Scores [K] and values [N]; ValueError if the pairs have no features."""
        _, features = described(pairs)
        return self._scores_and_values(observations, pairs.rows, features)

    @compilable
    def _scores_and_values(self, observations: Tensor, rows: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        state = self.state(observations)
        joint = self.state_to_joint(state).index_select(0, rows)
        joint = joint + self.action_to_joint(self.action(features))
        scores = self.score_head(self.joint(self.activate(joint))).squeeze(-1)
        return scores, self.value_head(state).squeeze(-1)

    @compilable
    def value(self, observations: Tensor) -> Tensor:
        """Values [N]."""
        return self.value_head(self.state(observations)).squeeze(-1)
