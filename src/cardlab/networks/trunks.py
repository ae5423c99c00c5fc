"""A network with one trunk and head per kind of decision, e.g. turn and swap of Thirty-One.

The score of an action comes from the trunk of its kind, so learning one kind of decision does not disturb another.
"""

import torch
from torch import Tensor, nn

from cardlab.games.protocol import GameSpec
from cardlab.networks.compiled import compilable, pad_to_bucket
from cardlab.networks.inputs import Inputs
from cardlab.networks.layers import head, initialize, mask_scores, perceptron
from cardlab.networks.options import TrunksOptions
from cardlab.networks.protocol import Network


class TrunksNetwork(Network):
    """Observation → trunk of the decision's kind → scores of its actions; the first trunk also gives the value."""

    def __init__(self, spec: GameSpec, options: TrunksOptions) -> None:
        super().__init__()
        self.num_actions = spec.num_actions
        widths = [tuple(options.kinds.get(kind, options.widths)) for kind in spec.decision_kinds]
        actions: list[list[int]] = [[] for _ in widths]
        for action, kind in enumerate(spec.action_kinds):
            actions[kind].append(action)
        self.trunks = nn.ModuleList(
            perceptron((spec.num_features, *sizes), activation=options.activation) for sizes in widths
        )
        self.heads = nn.ModuleList(head(sizes[-1], len(own), 0.01) for sizes, own in zip(widths, actions, strict=True))
        self.value_head = head(widths[0][-1], 1, 0.1)
        initialize(self, options.init, self.value_head)
        for kind, own in enumerate(actions):
            self.register_buffer(f"actions_{kind}", torch.tensor(own, dtype=torch.int64), persistent=False)

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A] and values [N]."""
        first = self._apply_layers(inputs.observations, self.trunks[0])
        scores = torch.full_like(inputs.legal, -torch.inf, dtype=first.dtype)
        for kind, (trunk, score_head) in enumerate(zip(self.trunks, self.heads, strict=True)):
            actions = self.get_buffer(f"actions_{kind}")
            rows = torch.nonzero(inputs.legal[:, actions].any(dim=1)).squeeze(1)
            hidden = first[rows] if kind == 0 else self._apply_layers(inputs.observations[rows], trunk)
            scores = scores.index_put((rows[:, None], actions[None]), self._apply_layers(hidden, score_head))
        return mask_scores(scores, inputs.legal), self._apply_layers(first, self.value_head).squeeze(-1)

    @pad_to_bucket
    def _apply_layers(self, rows: Tensor, layers: nn.Module) -> Tensor:
        return layers(rows)

    @compilable
    def value(self, observations: Tensor) -> Tensor:
        """Values [N] by the first trunk, since a position between decisions has no kind."""
        return self.value_head(self.trunks[0](observations)).squeeze(-1)
