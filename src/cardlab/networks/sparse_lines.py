"""Lines told by codes: a vector for each code, summed in each line, rectified, weighted and summed over the lines.

A first layer over one-hot inputs of which eighteen in seven thousand are one: the products that it saves make it the
fastest network there is for a game that is SupportsFusedRollouts (games/fused_rollouts.py), in training as in play.
"""

from typing import Any, cast

import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from cardlab.core.kernels import kernel
from cardlab.games.fused_rollouts import SparseLineValues
from cardlab.games.protocol import Block, Floats, GameSpec
from cardlab.networks.inputs import Inputs, Places
from cardlab.networks.layers import head, mask_scores
from cardlab.networks.protocol import Network


class SparseLinesNetwork(Network):
    """Σ vectors → relu → weights, summed over the lines, plus what is settled; scores from all lines side by side."""

    reads_codes = True

    def __init__(self, spec: GameSpec, codes: Block, settled: Block, width: int) -> None:
        super().__init__()
        self.codes, self.settled = codes, settled
        self.reward_scale = spec.payoff_scale  # what is settled counts in units of it
        self.nothing = spec.num_codes  # stands for "no code": its vector is zero and stays so
        self.vectors = nn.Parameter(torch.randn(spec.num_codes + 1, width) * 0.1)
        signs = torch.where(torch.arange(width) % 4 == 3, -1.0, 1.0)  # most of what a line has is worth something
        self.weights = nn.Parameter(torch.randn(width).abs() * 0.1 * signs)
        self.score_head = head(codes.shape[0] * width, spec.num_actions, 0.01)
        with torch.no_grad():
            self.vectors[self.nothing] = 0

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A] and values [N]."""
        lines = self._lines(inputs.observations)
        return mask_scores(self.score_head(lines.flatten(1)), inputs.legal), self._sum(lines, inputs.observations)

    def value(self, observations: Tensor) -> Tensor:
        """Values [N]."""
        return self._sum(self._lines(observations), observations)

    def sparse_line_values(self) -> SparseLineValues | None:
        """The network as a SupportsFusedRollouts game reads it, in the same memory; None where that is a GPU's."""
        if self.device.type != "cpu":
            return None
        return SparseLineValues(self.vectors.detach().numpy(), self.weights.detach().numpy())

    def _lines(self, observations: Tensor) -> Tensor:
        """[N, L, H] of each line."""
        block = self.codes
        codes = observations[:, block.start : block.stop].long()
        codes = torch.where(codes < 0, self.nothing, codes).reshape(-1, block.shape[1])
        sums = cast(Tensor, _SumOfVectors.apply(self.vectors, codes))
        return sums.relu().reshape(-1, block.shape[0], sums.shape[1])

    def _sum(self, lines: Tensor, observations: Tensor) -> Tensor:
        return lines.sum(dim=1) @ self.weights + observations[:, self.settled.start]


class _SumOfVectors(torch.autograd.Function):
    """torch's embedding_bag; its gradient is added up in one pass, where torch sorts the codes first."""

    @staticmethod
    def forward(ctx: Any, vectors: Tensor, codes: Tensor) -> Tensor:
        """[B, H] sums of `vectors` [V, H] over `codes` [B, C]."""
        ctx.save_for_backward(codes)
        ctx.shape = vectors.shape
        return embedding_bag(codes, vectors, mode="sum")

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """[V, H] of the vectors."""
        (codes,), (gradient,) = ctx.saved_tensors, gradients
        total = gradient.new_zeros(ctx.shape)
        if gradient.device.type == "cpu" and gradient.dtype == torch.float32:
            add_to_each(total.numpy(), codes.numpy(), gradient.contiguous().numpy())
        else:
            each = gradient.repeat_interleave(codes.shape[1], dim=0)
            total.index_add_(0, codes.flatten(), each)
        total[-1] = 0
        return total, None


@kernel
def add_to_each(total: Floats, codes: Places, rows: NDArray[Any]) -> None:
    """Add rows[b] [H] to total[c] [V, H] for each of codes[b] [B, C]."""
    for b in range(len(codes)):
        row = rows[b]
        for code in codes[b]:
            vector = total[code]
            for k in range(len(row)):
                vector[k] += row[k]
