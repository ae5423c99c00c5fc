"""The gradient of one step taken by several processes together, through memory that they share.

A socket takes 4 to 7 ms for the gradient of a million weights, memory 1: the step itself may take 25.
"""

from collections.abc import Sequence

import torch
from torch import nn

from cardlab.learners.distributed import Ranks


class JointGradient:
    """Makes the gradients of the same weights in all processes those of the mean over all their decisions.

    Each process writes its row of a board, meets the others, and reads all rows. There are two boards, taken in turns:
    whoever comes to meet for one has read the other, so that may be written again.
    """

    def __init__(self, ranks: Ranks, weights: Sequence[nn.Parameter]) -> None:
        """All processes make theirs together; OSError when there is no room."""
        self._ranks = ranks
        self._weights = list(weights)
        self._sizes = [weight.numel() for weight in self._weights]
        self._boards = torch.from_numpy(ranks.share_memory((2, ranks.size, sum(self._sizes))))
        self._mean = torch.empty_like(self._boards[0, 0])
        self._turn = 0

    def average(self, loss: float, count: int) -> float:
        """From gradients of the sum over `count` decisions to that of the mean over all; gives the mean loss of all.

        `loss` is this process's mean. A weight that has no gradient in any process keeps none.
        """
        self._turn = 1 - self._turn
        board = self._boards[self._turn]
        found = [weight.grad is not None for weight in self._weights]
        rows = board[self._ranks.rank].split(self._sizes)
        for weight, row in zip(self._weights, rows, strict=True):
            if weight.grad is None:
                row.zero_()
            else:
                row.copy_(weight.grad.flatten())
        *known, total, counted = self._ranks.each(*found, loss * count if count else 0.0, count).sum(axis=0)
        mean = torch.sum(board, dim=0, out=self._mean).div_(counted)
        pieces = mean.to(self._weights[0].device).split(self._sizes)
        for weight, piece, has_one in zip(self._weights, pieces, known, strict=True):
            weight.grad = piece.view_as(weight) if has_one else None
        return float(total / counted)
