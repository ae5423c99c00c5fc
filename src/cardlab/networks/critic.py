"""The critic that sees hidden cards, used in training only."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from cardlab.games.protocol import GameSpec
from cardlab.networks.compiled import compilable
from cardlab.networks.layers import head, perceptron


class Critic(nn.Module):
    """Observation and privileged features → value: the critic of asymmetric actor-critic (Pinto et al. 2018)."""

    compiled: bool = False  # see Compilable
    depends_on_batch: bool = False

    def __init__(self, spec: GameSpec, widths: Sequence[int]) -> None:
        super().__init__()
        self.trunk = perceptron((spec.num_features + spec.num_privileged, *widths))
        self.head = head(widths[-1], 1, 0.1)

    @compilable
    def forward(self, observations: Tensor, privileged: Tensor) -> Tensor:
        """Values [N] of `observations` [N, F] with `privileged` [N, Fp]."""
        return self.head(self.trunk(torch.cat([observations, privileged], dim=1))).squeeze(-1)
