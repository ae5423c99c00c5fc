"""A network with one encoder for all lines of cards; the value is a sum over the lines plus a value of their context.

On Poker Squares a sum over lines learns far better than a network on the raw board (Neller 2013, for tables). The
context lets lines compete for cards. Fits games whose observation has a block `lines` of shape [L, Fl].
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import embedding_bag

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Block, Floats, GameSpec
from cardlab.networks.compiled import compilable
from cardlab.networks.inputs import Indices, Inputs, LegalPairs
from cardlab.networks.layers import head, mask_scores, perceptron
from cardlab.networks.lines_options import LinesOptions
from cardlab.networks.protocol import Network

_HASH_FACTORS = np.random.default_rng(0).integers(1, 2**63, 4096, dtype=np.uint64) | np.uint64(1)


def distinct_lines(observations: Floats, block: Block) -> tuple[Floats, Indices]:
    """Distinct lines [D, Fl] of `block` [L, Fl] in `observations` [N, F], and the index [N, L] of each line in them.

    Lines are equal if all their bits are.
    """
    num_lines, width = block.shape
    bits = np.ascontiguousarray(observations).view(np.uint32)
    distinct, indices = find_duplicates(bits, block.start, num_lines, np.resize(_HASH_FACTORS, width))
    return distinct.view(np.float32), indices


@kernel
def find_duplicates(
    bits: NDArray[np.uint32], start: int, num_lines: int, factors: NDArray[np.uint64]
) -> tuple[NDArray[np.uint32], Indices]:
    """`distinct_lines` of `bits` [N, F] by a hash table with open addressing.

    The lines [L, Fl] begin at column `start`; the hash factors [Fl] are odd.
    """
    num_rows, width = len(bits), len(factors)
    size = 16
    while size < 2 * num_rows * num_lines:
        size *= 2
    slots = np.full(size, -1, dtype=np.int64)  # index of a distinct line, or −1
    indices = np.empty((num_rows, num_lines), dtype=np.int64)
    distinct = np.empty((num_rows * num_lines, width), dtype=np.uint32)
    count = 0
    for n in range(num_rows):
        for number in range(num_lines):
            line = bits[n, start + number * width : start + (number + 1) * width]
            mixed = np.uint64(0)
            for k in range(width):
                mixed += np.uint64(line[k]) * factors[k]
            slot = np.int64((mixed >> np.uint64(20)) & np.uint64(size - 1))
            while slots[slot] >= 0 and not _is_equal(line, distinct[slots[slot]]):
                slot = (slot + 1) & (size - 1)
            if slots[slot] < 0:
                slots[slot] = count
                distinct[count] = line
                count += 1
            indices[n, number] = slots[slot]
    return distinct[:count], indices


@kernel
def _is_equal(first: NDArray[np.uint32], second: NDArray[np.uint32]) -> bool:
    difference = np.uint32(0)
    for k in range(len(first)):
        difference |= first[k] ^ second[k]  # no early exit: it would prevent vectorisation
    return difference == 0


_MIN_DEDUPLICATED = 16  # observations; below, the search for duplicates takes longer than it saves


class LineEncoder(nn.Module):
    """Encodes each line of an observation.

    In large float32 batches on a CPU, without gradients, each distinct line is encoded once.
    """

    def __init__(self, spec: GameSpec, options: LinesOptions) -> None:
        super().__init__()
        self.block = spec.block("lines")
        self.num_lines, line_features = self.block.shape
        self.encoder = perceptron((line_features, *options.line_widths), activation=options.activation)
        self.width = options.line_widths[-1]
        self.rest = spec.num_features - self.block.size

    def forward(self, observations: Tensor) -> Tensor:
        """Encoded lines [N, L, E]."""
        found = self.encode_distinct(observations)
        return self._encode_all(observations) if found is None else found[0][found[1]]

    def mean(self, observations: Tensor) -> Tensor:
        """[N, E] mean of the encoded lines."""
        found = self.encode_distinct(observations)
        return self._encode_all(observations).mean(dim=1) if found is None else embedding_bag(found[1], found[0])

    def add_rest(self, pooled: Tensor, observations: Tensor) -> Tensor:
        """[N, E + R]: `pooled` [N, E] and the columns of `observations` outside the lines."""
        before, after = observations[:, : self.block.start], observations[:, self.block.stop :]
        return torch.cat((pooled, before, after), dim=1)

    def encode_distinct(self, observations: Tensor) -> tuple[Tensor, Tensor] | None:
        """Distinct lines encoded [D, E] and the index [N, L] of each line; None where all lines are encoded."""
        learning = torch.is_grad_enabled() or torch.compiler.is_compiling()
        plain = observations.device.type == "cpu" and observations.dtype == torch.float32
        if learning or not plain or len(observations) < _MIN_DEDUPLICATED:
            return None
        distinct, indices = (torch.from_numpy(array) for array in distinct_lines(observations.numpy(), self.block))
        return self.encoder(distinct), indices

    def _encode_all(self, observations: Tensor) -> Tensor:
        block = self.block
        return self.encoder(observations[:, block.start : block.stop].reshape(-1, *block.shape))


class LinesNetwork(Network):
    """Shared line encoder → sum of line values; context of all lines → scores and the rest of the value."""

    def __init__(self, spec: GameSpec, options: LinesOptions) -> None:
        super().__init__()
        self.lines = LineEncoder(spec, options)
        self.concatenated = options.pooling == "concat"
        pooled = self.lines.width * (self.lines.num_lines if self.concatenated else 1)
        self.context = perceptron((pooled + self.lines.rest, *options.context_widths), activation=options.activation)
        context_width = options.context_widths[-1]
        self.line_value = head(self.lines.width, 1, 0.1)
        self.context_value = head(context_width, 1, 0.1)
        self.score_head = head(self.lines.width * self.lines.num_lines + context_width, spec.num_actions, 0.01)

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A] and values [N]."""
        scores, values = self._scores_and_values(inputs.observations)
        return mask_scores(scores, inputs.legal), values

    def score_legal(self, observations: Tensor, pairs: LegalPairs) -> tuple[Tensor, Tensor]:
        """Scores [K] and values [N]."""
        scores, values = self._scores_and_values(observations)
        return scores[pairs.rows, pairs.actions], values

    @compilable
    def value(self, observations: Tensor) -> Tensor:
        """Values [N]."""
        if self.concatenated:
            _, mean, context = self._features(observations)
        else:
            mean = self.lines.mean(observations)
            context = self.context(self.lines.add_rest(mean, observations))
        return self._values(mean, context)

    @compilable
    def _scores_and_values(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        lines, mean, context = self._features(observations)
        return self.score_head(torch.cat((lines.flatten(1), context), dim=1)), self._values(mean, context)

    def _features(self, observations: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Encoded lines [N, L, E], their mean [N, E] and the context [N, C]."""
        lines = self.lines(observations)
        mean = lines.mean(dim=1)
        pooled = lines.flatten(1) if self.concatenated else mean
        return lines, mean, self.context(self.lines.add_rest(pooled, observations))

    def _values(self, mean: Tensor, context: Tensor) -> Tensor:
        """Values [N]: the sum of the values of lines, by their `mean` [N, E], and the value of the context [N, C]."""
        return self.lines.num_lines * self.line_value(mean).squeeze(-1) + self.context_value(context).squeeze(-1)
