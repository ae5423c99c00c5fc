"""One trunk and head per kind of decision: Thirty-One's turn and swap as two networks in one.

The scores of an action come from the trunk of its kind, so what one kind of decision learns does not disturb the other.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from cardlab.games.protocol import GameSpec
from cardlab.networks.bucketing import in_common_sizes
from cardlab.networks.compiled import fusible
from cardlab.networks.inputs import Inputs
from cardlab.networks.layers import head, mask_scores, perceptron
from cardlab.networks.options import TrunksOptions
from cardlab.networks.protocol import Network


class Trunks(Network):
    """Observation → the trunk of the decision's kind → scores of its actions; the first trunk also gives the value."""

    def __init__(self, spec: GameSpec, options: TrunksOptions) -> None:
        super().__init__()
        self.num_actions = spec.num_actions
        widths = [tuple(options.kinds.get(kind, options.widths)) for kind in spec.decision_kinds]
        actions = [_actions_of(spec.action_kinds, kind) for kind in range(len(widths))]
        self.trunks = nn.ModuleList(
            perceptron((spec.num_features, *sizes), activation=options.activation) for sizes in widths
        )
        self.heads = nn.ModuleList(head(sizes[-1], len(own), 0.01) for sizes, own in zip(widths, actions, strict=True))
        self.value_head = head(widths[0][-1], 1, 0.1)
        for kind, own in enumerate(actions):
            self.register_buffer(f"actions_{kind}", torch.tensor(own, dtype=torch.int64), persistent=False)

    def forward(self, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """Scores [N, A] and values [N]."""
        first = self._through(inputs.observations, self.trunks[0])
        scores = torch.full_like(inputs.legal, -torch.inf, dtype=first.dtype)
        for kind, (trunk, score_head) in enumerate(zip(self.trunks, self.heads, strict=True)):
            actions = self.get_buffer(f"actions_{kind}")
            rows = torch.nonzero(inputs.legal[:, actions].any(dim=1)).squeeze(1)
            hidden = first[rows] if kind == 0 else self._through(inputs.observations[rows], trunk)
            scores = scores.index_put((rows[:, None], actions[None]), self._through(hidden, score_head))
        return mask_scores(scores, inputs.legal), self._through(first, self.value_head).squeeze(-1)

    @in_common_sizes
    def _through(self, rows: Tensor, layers: nn.Module) -> Tensor:
        return layers(rows)

    @fusible
    def value(self, observations: Tensor) -> Tensor:
        """Values [N]: a situation between decisions has no kind, so the first trunk prices them all."""
        return self.value_head(self.trunks[0](observations)).squeeze(-1)


def _actions_of(action_kinds: Sequence[int], kind: int) -> list[int]:
    return [action for action, its_kind in enumerate(action_kinds) if its_kind == kind]
