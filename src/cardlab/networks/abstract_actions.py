"""A policy over a few abstract actions, each of which stands for one legal action: a hand-made action abstraction.

Per kind of play there are three rules: `lowest` (least strength), `highest`, and `keeping` (the lowest of those that
split the fewest groups of equal rank). In Big 2 this makes 28 abstract actions: nine kinds with three rules each, and
the pass. Where two rules stand for one legal action, the first counts. Among equals the action that splits fewer ranks
counts, then the first. All other legal actions have probability 0.
"""

import torch
from torch import Tensor

from cardlab.games.protocol import GameSpec, find_block
from cardlab.networks.abstract_actions_options import AbstractActionsOptions
from cardlab.networks.compiled import compilable
from cardlab.networks.inputs import LegalPairs, described
from cardlab.networks.layers import LEFT_OUT, head, perceptron
from cardlab.networks.protocol import ActionInputNetwork

RULES = ("lowest", "highest", "keeping")


def abstract_actions(pairs: LegalPairs, kinds: Tensor, strength: Tensor, splits: Tensor) -> Tensor:
    """[K] abstract action of each pair: kind · 3 + rule, −1 where it is left out; from kinds, strengths, splits [K]."""
    num_pairs, num_rows, num_kinds = len(kinds), len(pairs.starts) - 1, int(kinds.max()) + 1 if len(kinds) else 1
    groups, places = pairs.rows * num_kinds + kinds, torch.arange(num_pairs, device=kinds.device)
    strengths, weakest_first = strength.unique(return_inverse=True)
    splittings, fewest_first = splits.unique(return_inverse=True)
    strongest_first = len(strengths) - 1 - weakest_first
    orders = {
        "lowest": weakest_first * len(splittings) + fewest_first,
        "highest": strongest_first * len(splittings) + fewest_first,
        "keeping": fewest_first * len(strengths) + weakest_first,
    }
    abstract = torch.full_like(places, -1)
    for rule in reversed(RULES):  # the first of them counts
        first = places.new_full((num_rows * num_kinds,), torch.iinfo(torch.int64).max)
        first = first.scatter_reduce(0, groups, orders[rule] * num_pairs + places, "amin")
        chosen = first[first < torch.iinfo(torch.int64).max] % num_pairs
        abstract[chosen] = kinds[chosen] * len(RULES) + RULES.index(rule)
    return abstract


class AbstractActionsNetwork(ActionInputNetwork):
    """Observation → trunk → a score per abstract action, and a value."""

    leaves_actions_out = True

    def __init__(self, spec: GameSpec, options: AbstractActionsOptions) -> None:
        super().__init__()
        self.kind, self.strength, self.splits = (
            find_block(spec.action_blocks, name) for name in ("kind", "strength", "splits")
        )
        self.trunk = perceptron((spec.num_features, *options.widths), activation=options.activation)
        self.score_head = head(options.widths[-1], self.kind.size * len(RULES), 0.01)
        self.value_head = head(options.widths[-1], 1, 0.1)

    def score_legal(self, observations: Tensor, pairs: LegalPairs) -> tuple[Tensor, Tensor]:
        """Scores [K], LEFT_OUT for actions that no abstract action stands for, and values [N]."""
        _, features = described(pairs)
        kinds = features[:, self.kind.start : self.kind.start + self.kind.size].argmax(dim=1)
        strength, splits = (features[:, block.start].float() for block in (self.strength, self.splits))
        abstract = abstract_actions(pairs, kinds, strength, splits)
        outputs, values = self._outputs_and_values(observations)
        scores = outputs[pairs.rows, abstract.clamp(min=0)]
        return scores.masked_fill(abstract < 0, LEFT_OUT), values

    @compilable
    def value(self, observations: Tensor) -> Tensor:
        """Values [N]."""
        return self.value_head(self.trunk(observations)).squeeze(-1)

    @compilable
    def _outputs_and_values(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.trunk(observations)
        return self.score_head(hidden), self.value_head(hidden).squeeze(-1)
