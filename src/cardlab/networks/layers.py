"""Layers that the networks share, and the training-only critic made of them."""

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from cardlab.games.protocol import GameSpec
from cardlab.networks.compiled import compilable

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "leaky_relu": nn.LeakyReLU,
    "gelu": nn.GELU,
    "tanh": nn.Tanh,
    "softsign": nn.Softsign,
}
LEFT_OUT = -1000.0
"""Score of a legal action that a network leaves out: its probability is exactly 0.

The score is finite, so that an action that is left out since it was played has the ratio 0, not NaN.
"""


def perceptron(
    sizes: Sequence[int],
    *,
    activation: str = "relu",
    layer_norm: bool = False,
    batch_norm: bool = False,
    dropout: float = 0.0,
) -> nn.Sequential:
    """Linear layers of these sizes, each followed by normalisation, activation and dropout; one size: the identity.

    Batch normalisation and dropout act in training mode only: call `eval()` before play and evaluation.
    """
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layers.append(nn.Linear(before, after))
        if layer_norm:
            layers.append(nn.LayerNorm(after))
        if batch_norm:
            layers.append(nn.BatchNorm1d(after))
        layers.append(ACTIVATIONS[activation]())
        if dropout:
            layers.append(nn.Dropout(dropout))
    return nn.Sequential(*layers)


class Head(nn.Linear):
    """A linear output layer that can compute a selection of its outputs."""

    def outputs_at(self, hidden: Tensor, rows: Tensor, outputs: Tensor) -> Tensor:
        """[K] of `hidden` [N, H]: for each k the output `outputs[k]` of row `rows[k]`."""
        products = hidden.index_select(0, rows) * self.weight.index_select(0, outputs)
        return products.sum(dim=-1) + self.bias.index_select(0, outputs)


def head(width: int, outputs: int, scale: float) -> Head:
    """An output layer with orthogonal weights of gain `scale` and zero bias.

    A small gain of the policy head makes the first policy nearly uniform (Andrychowicz et al. 2021, section 3.2).
    """
    layer = Head(width, outputs)
    nn.init.orthogonal_(layer.weight, scale)
    nn.init.zeros_(layer.bias)
    return layer


def initialize(network: nn.Module, kind: str, value_head: nn.Module) -> None:
    """Draw the weights of all linear layers again by `kind`, an option `init`; small_heads leaves them as they are."""
    if kind == "small_heads":
        return
    for layer in network.modules():
        if not isinstance(layer, nn.Linear):
            continue
        if kind == "torch":
            layer.reset_parameters()
        elif kind == "uniform":
            bound = 0.5 / math.sqrt(layer.in_features + 1)
            nn.init.uniform_(layer.weight, -bound, bound)
            nn.init.uniform_(layer.bias, -bound, bound)
        elif kind == "gaussian":
            nn.init.normal_(layer.weight, std=0.5)
            nn.init.normal_(layer.bias, std=0.5)
        else:
            gain = math.sqrt(2.0) if not isinstance(layer, Head) else 1.0 if layer is value_head else 0.01
            nn.init.orthogonal_(layer.weight, gain)
            nn.init.zeros_(layer.bias)


def mask_scores(scores: Tensor, legal: Tensor) -> Tensor:
    """Scores [N, A] with minus infinity where illegal."""
    return scores.masked_fill(~legal, -torch.inf)


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
