"""The pieces that networks are made of."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "relu": nn.ReLU,
    "leaky_relu": nn.LeakyReLU,
    "gelu": nn.GELU,
    "tanh": nn.Tanh,
}


def perceptron(
    sizes: Sequence[int],
    *,
    activation: str = "relu",
    layer_norm: bool = False,
    batch_norm: bool = False,
    dropout: float = 0.0,
) -> nn.Sequential:
    """Linear layers of these sizes, each followed by (norm,) activation (and dropout); one size alone changes nothing.

    Batch normalisation and dropout act in training only: whoever judges or plays puts the network in `eval()` first.
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
    """A linear output layer that can compute chosen outputs alone."""

    def outputs_at(self, hidden: Tensor, rows: Tensor, outputs: Tensor) -> Tensor:
        """[K] of hidden [N, H]: of each row in `rows` [K] the output in `outputs` [K]."""
        products = hidden.index_select(0, rows) * self.weight.index_select(0, outputs)
        return products.sum(dim=-1) + self.bias.index_select(0, outputs)


def head(width: int, outputs: int, scale: float) -> Head:
    """An output layer whose weights start orthogonal and `scale` small, its bias at zero.

    Small first logits keep the first policy near uniform (Andrychowicz et al. 2021, section 3.2).
    """
    layer = Head(width, outputs)
    nn.init.orthogonal_(layer.weight, scale)
    nn.init.zeros_(layer.bias)
    return layer


def mask_scores(scores: Tensor, legal: Tensor) -> Tensor:
    """Scores [N, A] with minus infinity where illegal."""
    return scores.masked_fill(~legal, -torch.inf)
