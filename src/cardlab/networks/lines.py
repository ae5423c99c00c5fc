"""Lines of cards through one shared encoder; the value is a sum over the lines plus what they share.

A value that adds up lines learns Poker Squares far better than a network on the raw board (Neller 2013 for tables);
the context lets lines compete for cards. Fits every game whose observation has a block `lines` of shape [L, Fl].
"""

import torch
from torch import Tensor, nn

from cardlab.games.protocol import Block, GameSpec
from cardlab.networks.compiled import fusible
from cardlab.networks.deduplicate import distinct_parts
from cardlab.networks.inputs import Inputs, LegalPairs
from cardlab.networks.layers import head, mask_scores, perceptron
from cardlab.networks.options import LinesOptions
from cardlab.networks.protocol import Network

_FEW = 16  # positions: looking for lines that are alike costs more than it spares


class LineEncoder(nn.Module):
    """Splits an observation into encoded lines [N, L, E] and the rest [N, R]."""

    def __init__(self, spec: GameSpec, block: Block, widths: tuple[int, ...], activation: str) -> None:
        super().__init__()
        self.block = block
        self.num_lines, line_features = block.shape
        self.encoder = perceptron((line_features, *widths), activation=activation)
        self.width = widths[-1]
        self.rest = spec.num_features - block.size

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Encoded lines [N, L, E] and the other columns [N, R]."""
        block = self.block
        rest = torch.cat((observations[:, : block.start], observations[:, block.stop :]), dim=1)
        return self._encode(observations), rest

    def _encode(self, observations: Tensor) -> Tensor:
        """[N, L, E]; in play on a CPU lines that are alike are encoded once, where they are many."""
        learning = torch.is_grad_enabled() or torch.compiler.is_compiling()
        plain = observations.device.type == "cpu" and observations.dtype == torch.float32
        if learning or not plain or len(observations) < _FEW:
            return self.encode_each(observations)
        distinct, kinds = (torch.from_numpy(found) for found in distinct_parts(observations.numpy(), self.block))
        return self.encoder(distinct)[kinds]

    def encode_each(self, observations: Tensor) -> Tensor:
        """[N, L, E], each line by itself."""
        block = self.block
        return self.encoder(observations[:, block.start : block.stop].reshape(-1, *block.shape))


class LinesNetwork(Network):
    """Shared line encoder → sum of line values, plus a context → scores and the rest of the value."""

    def __init__(self, spec: GameSpec, block: Block, options: LinesOptions) -> None:
        super().__init__()
        self.lines = LineEncoder(spec, block, options.line_widths, options.activation)
        self.concatenated = options.pooling == "concat"
        pooled = self.lines.width * (self.lines.num_lines if self.concatenated else 1)
        self.context = perceptron((pooled + self.lines.rest, *options.context_widths), activation=options.activation)
        context_width = options.context_widths[-1]
        self.line_value = head(self.lines.width, 1, 0.1)
        self.context_value = head(context_width, 1, 0.1)
        self.score_head = head(self.lines.width * self.lines.num_lines + context_width, spec.num_actions, 0.01)

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A] and values [N]."""
        scores, values = self._judge(inputs.observations)
        return mask_scores(scores, inputs.legal), values

    def score_legal(self, observations: Tensor, pairs: LegalPairs) -> tuple[Tensor, Tensor]:
        """Scores [K] and values [N]."""
        scores, values = self._judge(observations)
        return scores[pairs.rows, pairs.actions], values

    @fusible
    def value(self, observations: Tensor) -> Tensor:
        """Values [N]."""
        return self._parts(observations)[2]

    @fusible
    def _judge(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        lines, context, values = self._parts(observations)
        return self.score_head(torch.cat((lines.flatten(1), context), dim=1)), values

    def _parts(self, observations: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        lines, rest = self.lines(observations)
        pooled = lines.flatten(1) if self.concatenated else lines.mean(dim=1)
        context = self.context(torch.cat((pooled, rest), dim=1))
        values = self.line_value(lines).sum(dim=(1, 2)) + self.context_value(context).squeeze(-1)
        return lines, context, values
