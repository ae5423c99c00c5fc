"""A network with one trunk and head per kind of decision, e.g. turn and swap of Thirty-One.

The score of an action comes from the trunk of its kind, so learning one kind of decision does not disturb another.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from cardlab.games.protocol import GameSpec
from cardlab.networks.compiled import compilable, pad_to_bucket
from cardlab.networks.inputs import Inputs
from cardlab.networks.layers import head, initialize, mask_scores, perceptron
from cardlab.networks.protocol import Network
from cardlab.networks.trunks_options import TrunksOptions


class TrunksNetwork(Network):
    """Observation → trunk of the decision's kind → scores of its actions; the first trunk also gives the value."""

    def __init__(self, spec: GameSpec, options: TrunksOptions) -> None:
        super().__init__()
        self.num_actions = spec.num_actions
        widths = [tuple(options.kinds.get(kind, options.widths)) for kind in spec.decision_kinds]
        actions: list[list[int]] = [[] for _ in widths]
        for action, kind in enumerate(spec.action_kinds):
            actions[kind].append(action)
        columns = [_columns(spec, options.inputs.get(kind, ())) for kind in spec.decision_kinds]
        self.trunks = nn.ModuleList(
            perceptron((len(seen), *sizes), activation=options.activation)
            for seen, sizes in zip(columns, widths, strict=True)
        )
        self.heads = nn.ModuleList(head(sizes[-1], len(own), 0.01) for sizes, own in zip(widths, actions, strict=True))
        self.value_head = head(widths[0][-1], 1, 0.1)
        initialize(self, options.init, self.value_head)
        for kind, (own, seen) in enumerate(zip(actions, columns, strict=True)):
            self.register_buffer(f"actions_{kind}", torch.tensor(own, dtype=torch.int64), persistent=False)
            self.register_buffer(f"columns_{kind}", torch.tensor(seen, dtype=torch.int64), persistent=False)
        self.sees_all = [len(seen) == spec.num_features for seen in columns]

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A] and values [N]."""
        first = self._hidden(inputs.observations, 0)
        scores = torch.full_like(inputs.legal, -torch.inf, dtype=first.dtype)
        for kind, score_head in enumerate(self.heads):
            actions = self.get_buffer(f"actions_{kind}")
            rows = torch.nonzero(inputs.legal[:, actions].any(dim=1)).squeeze(1)
            hidden = first[rows] if kind == 0 else self._hidden(inputs.observations[rows], kind)
            scores = scores.index_put((rows[:, None], actions[None]), self._apply_layers(hidden, score_head))
        return mask_scores(scores, inputs.legal), self._apply_layers(first, self.value_head).squeeze(-1)

    def _hidden(self, observations: Tensor, kind: int) -> Tensor:
        return self._apply_layers(self._seen(observations, kind), self.trunks[kind])

    def _seen(self, observations: Tensor, kind: int) -> Tensor:
        """The columns of `observations` that the trunk of `kind` sees."""
        if self.sees_all[kind]:
            return observations
        return observations.index_select(1, self.get_buffer(f"columns_{kind}"))

    @pad_to_bucket
    def _apply_layers(self, rows: Tensor, layers: nn.Module) -> Tensor:
        return layers(rows)

    @compilable
    def value(self, observations: Tensor) -> Tensor:
        """Values [N] by the first trunk, since a position between decisions has no kind."""
        return self.value_head(self.trunks[0](self._seen(observations, 0))).squeeze(-1)


def _columns(spec: GameSpec, blocks: Sequence[str]) -> list[int]:
    """Columns of the observation in these blocks, ascending; all without blocks."""
    shown = [block for block in spec.blocks if not blocks or block.name in blocks]
    return [column for block in shown for column in range(block.start, block.stop)]
