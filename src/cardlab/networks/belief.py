"""The belief network: the probability that each opponent holds each card."""

import torch
from torch import Tensor, nn

from cardlab.games.protocol import GameSpec
from cardlab.networks.belief_options import BeliefOptions
from cardlab.networks.layers import head, perceptron


class BeliefNetwork(nn.Module):
    """Observation → a logit per opponent and card."""

    def __init__(self, spec: GameSpec, options: BeliefOptions) -> None:
        super().__init__()
        self.num_opponents, self.num_cards = spec.num_players - 1, spec.num_cards
        self.trunk = perceptron((spec.num_features, *options.widths), activation=options.activation)
        self.head = head(options.widths[-1], self.num_opponents * self.num_cards, 0.01)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.parameters()).device

    def forward(self, observations: Tensor) -> Tensor:
        """Logits [N, P − 1, C] of `observations` [N, F], for a softmax over the opponents in seat order."""
        return self.head(self.trunk(observations)).view(-1, self.num_opponents, self.num_cards)
