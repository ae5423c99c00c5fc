"""Options of the network `auto`, which stands for another one. Imports no torch."""

from typing import Any

from cardlab.core.options import options
from cardlab.games.protocol import GameSpec
from cardlab.networks.actions_options import ActionsOptions
from cardlab.networks.lines_options import LinesOptions
from cardlab.networks.mlp_options import MLPOptions


@options("network")
class AutoOptions:
    """The network that fits: `actions` with action features, `lines` with a block of lines, else `mlp`."""

    def chosen(self, spec: GameSpec, *, values_only: bool = False) -> Any:
        """The options that it stands for; `values_only`: for a learner that reads no scores of actions."""
        if spec.num_action_features and not values_only:
            return ActionsOptions()
        if any(block.name == "lines" and len(block.shape) == 2 for block in spec.blocks):
            return LinesOptions(pooling="concat")
        return MLPOptions()

    def check(self, spec: GameSpec) -> None:
        """Do nothing: one of them fits every game."""

    def build(self, spec: GameSpec) -> Any:
        """The network that it stands for."""
        return self.chosen(spec).build(spec)
