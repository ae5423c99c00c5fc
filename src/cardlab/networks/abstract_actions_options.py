"""Options of the network `abstract_actions`. Imports no torch, so that a wrong value is refused quickly."""

from typing import Any

from cardlab.core.options import options
from cardlab.core.parts import find_place
from cardlab.games.protocol import GameSpec
from cardlab.networks.option_types import Activation, TrunkWidths, require


@options("network")
class AbstractActionsOptions:
    """A score per abstract action: lowest, highest and least splitting play of each kind; for PPO at Big 2."""

    widths: TrunkWidths = (256, 256)
    activation: Activation = "relu"

    def check(self, spec: GameSpec) -> None:
        """Raise InvalidOption without the action features that define the abstract actions."""
        fits = {"kind", "strength", "splits"} <= {block.name for block in spec.action_blocks}
        require(fits, "abstract_actions", spec, "action features kind, strength and splits")

    def build(self, spec: GameSpec) -> Any:
        """The network for this game with weights from torch's generator; InvalidOption if it does not fit the game."""
        self.check(spec)
        return find_place(__name__, ".abstract_actions:AbstractActionsNetwork")(spec, self)
