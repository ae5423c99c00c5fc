"""A network over sparse lines: each line of cards is a list of codes, and each code has an embedding.

The value of a line is weights · relu(Σ embeddings of its codes). This is a first layer over one-hot inputs, of which
18 in 7,000 are one, without the products by zero. It is the fastest network, in training and in play, for a game that
SupportsFusedRollouts (games/abilities.py).
"""

from typing import Any, cast

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from cardlab.core.kernels import kernel
from cardlab.games.abilities import SparseLineValues
from cardlab.games.protocol import Floats, GameSpec
from cardlab.networks.inputs import Indices, Inputs
from cardlab.networks.layers import head, mask_scores
from cardlab.networks.protocol import Network
from cardlab.networks.sparse_lines_options import SparseLinesOptions


class SparseLinesNetwork(Network):
    """Σ embeddings → relu → weights, summed over lines, plus settled points; scores from the concatenated lines."""

    reads_codes = True

    def __init__(self, spec: GameSpec, options: SparseLinesOptions) -> None:
        super().__init__()
        self.codes, self.settled = spec.block("codes"), spec.block("settled")
        width = options.width
        self.reward_scale = spec.payoff_scale  # settled points are in units of it
        self.padding_index = spec.num_codes  # in place of missing codes; its embedding stays zero
        self.vectors = nn.Parameter(torch.randn(spec.num_codes + 1, width) * 0.1)
        signs = torch.where(torch.arange(width) % 4 == 3, -1.0, 1.0)  # most features of a line add to its value
        self.weights = nn.Parameter(torch.randn(width).abs() * 0.1 * signs)
        self.score_head = head(self.codes.shape[0] * width, spec.num_actions, 0.01)
        with torch.no_grad():
            self.vectors[self.padding_index] = 0

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A] and values [N]."""
        lines = self._lines(inputs.observations)
        return mask_scores(self.score_head(lines.flatten(1)), inputs.legal), self._value_of(lines, inputs.observations)

    def value(self, observations: Tensor) -> Tensor:
        """Values [N]."""
        return self._value_of(self._lines(observations), observations)

    def sparse_line_values(self) -> SparseLineValues | None:
        """The parameters for a SupportsFusedRollouts game, in shared memory; None if they are on a GPU."""
        if self.device.type != "cpu":
            return None
        return SparseLineValues(self.vectors.detach().numpy(), self.weights.detach().numpy())

    def _lines(self, observations: Tensor) -> Tensor:
        """Rectified sums of embeddings [N, L, H]."""
        block = self.codes
        codes = observations[:, block.start : block.stop].long()
        codes = torch.where(codes < 0, self.padding_index, codes).reshape(-1, block.shape[1])
        sums = cast(Tensor, _EmbeddingSum.apply(self.vectors, codes))
        return sums.relu().reshape(-1, block.shape[0], sums.shape[1])

    def _value_of(self, lines: Tensor, observations: Tensor) -> Tensor:
        return lines.sum(dim=1) @ self.weights + observations[:, self.settled.start]


class _EmbeddingSum(torch.autograd.Function):
    """torch's embedding_bag with a faster gradient: one pass over the codes, which torch sorts first."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, codes: Tensor) -> Tensor:
        """Sums [B, H] of the `vectors` [V, H] of `codes` [B, C]."""
        ctx.save_for_backward(codes)
        ctx.shape = vectors.shape
        return embedding_bag(codes, vectors, mode="sum")

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """Gradient [V, H] of the vectors."""
        (codes,), (gradient,) = ctx.saved_tensors, gradients
        total = gradient.new_zeros(ctx.shape)
        if gradient.device.type == "cpu" and gradient.dtype == torch.float32:
            add_at_codes(total.numpy(), codes.numpy(), gradient.contiguous().numpy())
        else:
            each = gradient.repeat_interleave(codes.shape[1], dim=0)
            total.index_add_(0, codes.flatten(), each)
        total[-1] = 0
        return total, None


@kernel
def add_at_codes(total: Floats, codes: Indices, rows: NDArray[Any]) -> None:
    """Add `rows[b]` [H] to `total[c]` [H] for each c of `codes[b]` [C]."""
    for b in range(len(codes)):
        row = rows[b]
        for code in codes[b]:
            vector = total[code]
            for k in range(len(row)):
                vector[k] += row[k]
