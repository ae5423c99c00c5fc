"""Options of the network `actions`. Imports no torch, so that a wrong value is refused quickly."""

from typing import Any

from cardlab.core.options import options
from cardlab.core.parts import find_place
from cardlab.games.protocol import GameSpec
from cardlab.networks.option_types import ActionWidths, Activation, JointWidths, StateWidths, require


@options("network")
class ActionsOptions:
    """Encoded legal actions scored against the encoded state; for games with action features."""

    state_widths: StateWidths = (256, 128)
    action_widths: ActionWidths = (128,)
    joint_widths: JointWidths = (64,)
    activation: Activation = "relu"

    def check(self, spec: GameSpec) -> None:
        """Raise InvalidOption without action features."""
        require(bool(spec.num_action_features), "actions", spec, "action features")

    def build(self, spec: GameSpec) -> Any:
        """The network for this game with weights from torch's generator; InvalidOption if it does not fit the game."""
        self.check(spec)
        return find_place(__name__, ".actions:ActionsNetwork")(spec, self)
