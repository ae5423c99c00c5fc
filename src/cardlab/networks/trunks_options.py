"""Options of the network `trunks`. Imports no torch, so that a wrong value is refused quickly."""

from collections.abc import Mapping
from typing import Any

from cardlab.core.messages import InvalidOption
from cardlab.core.options import Text, option, options
from cardlab.core.parts import find_place
from cardlab.games.protocol import GameSpec
from cardlab.networks.option_types import Activation, Init, Widths


@options("network")
class TrunksOptions:
    """One trunk and head per kind of decision, e.g. turn and swap of Thirty-One; fits every game."""

    widths: Widths = option((256, 256), "layer widths of each trunk that `kinds` does not list")
    kinds: Mapping[Text, Widths] = option(
        {}, "kind of decision: layer widths of its trunk, e.g. {swap: [128, 128]}", factory=dict[str, tuple[int, ...]]
    )
    inputs: Mapping[Text, tuple[Text, ...]] = option(
        {},
        "kind of decision: blocks of the observation that its trunk sees, e.g. {swap: [hand, card]}; left out: all",
        factory=dict[str, tuple[str, ...]],
    )
    activation: Activation = "relu"
    init: Init = "small_heads"

    def check(self, spec: GameSpec) -> None:
        """Raise InvalidOption for kinds of decisions and blocks that the game does not have."""
        for key, by_kind in (("kinds", self.kinds), ("inputs", self.inputs)):
            for kind, values in by_kind.items():
                if kind not in spec.decision_kinds:
                    expected = f"left out: {spec.name} has the kinds of decision {', '.join(spec.decision_kinds)} only"
                    raise InvalidOption(f"network.{key}.{kind}", list(values), expected)
        known = [block.name for block in spec.blocks]
        for kind, names in self.inputs.items():
            if not names or not set(names) <= set(known):
                raise InvalidOption(f"network.inputs.{kind}", list(names), f"one or more of {', '.join(known)}")

    def build(self, spec: GameSpec) -> Any:
        """The network for this game with weights from torch's generator; InvalidOption if it does not fit the game."""
        self.check(spec)
        return find_place(__name__, ".trunks:TrunksNetwork")(spec, self)
