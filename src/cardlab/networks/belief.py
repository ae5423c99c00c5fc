"""The belief network: how likely each of the others holds each card."""

import torch
from torch import Tensor, nn

from cardlab.games.cards.deck import NUM_CARDS
from cardlab.games.protocol import GameSpec
from cardlab.networks.layers import head, perceptron
from cardlab.networks.options import BeliefOptions


class BeliefNetwork(nn.Module):
    """Observation → a score for each of the others and each card."""

    def __init__(self, spec: GameSpec, options: BeliefOptions) -> None:
        super().__init__()
        self.num_others = spec.num_players - 1
        self.trunk = perceptron((spec.num_features, *options.widths), activation=options.activation)
        self.head = head(options.widths[-1], self.num_others * NUM_CARDS, 0.01)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    def forward(self, observations: Tensor) -> Tensor:
        """Scores [N, P − 1, 52] of `observations` [N, F]: their softmax over the others, by how many seats on."""
        return self.head(self.trunk(observations)).view(-1, self.num_others, NUM_CARDS)
