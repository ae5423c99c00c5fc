"""Options of the network `proto_action`. Imports no torch, so that a wrong value is refused quickly."""

from typing import Any

from cardlab.core.options import Whole, option, options
from cardlab.core.parts import find_place
from cardlab.games.protocol import GameSpec
from cardlab.networks.option_types import ActionWidths, Activation, StateWidths, Width, require


@options("network")
class ProtoActionOptions:
    """A proto-action, and scores of the legal actions nearest to it only; for PPO and games with action features."""

    neighbors: Whole | None = option(
        4, "legal actions nearest to the proto-action that may be played; null: all legal actions", ge=2
    )
    dimensions: Whole = option(32, "numbers of the proto-action and of each embedded action", ge=1, le=1024)
    state_widths: StateWidths = (256, 128)
    action_widths: ActionWidths = (128,)
    joint_widths: tuple[Width, ...] = option(
        (64,),
        "layer widths over state and nearest action; []: the nearest are scored by their distance only",
        max_length=16,
    )
    activation: Activation = "relu"

    def check(self, spec: GameSpec) -> None:
        """Raise InvalidOption without action features."""
        require(bool(spec.num_action_features), "proto_action", spec, "action features")

    def build(self, spec: GameSpec) -> Any:
        """The network for this game with weights from torch's generator; InvalidOption if it does not fit the game."""
        self.check(spec)
        return find_place(__name__, ".proto_action:ProtoActionNetwork")(spec, self)
