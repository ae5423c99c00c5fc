"""Options of the network `lines`. Imports no torch, so that a wrong value is refused quickly."""

from typing import Any, Literal

from cardlab.core.options import option, options
from cardlab.core.parts import find_place
from cardlab.games.protocol import GameSpec
from cardlab.networks.option_types import Activation, Widths, require


@options("network")
class LinesOptions:
    """One encoder for all lines of cards, plus a context; for games whose observation has a block `lines`."""

    line_widths: Widths = option((64, 32), "layer widths of the line encoder")
    context_widths: Widths = option((64,), "layer widths over the pooled lines and the rest of the observation")
    pooling: Literal["mean", "concat"] = option(
        "mean", "pooling of lines for the context: mean, or concat where the order of lines matters"
    )
    activation: Activation = "relu"

    def check(self, spec: GameSpec) -> None:
        """Raise InvalidOption without a block of lines."""
        fits = any(block.name == "lines" and len(block.shape) == 2 for block in spec.blocks)
        others = "mlp, trunks or actions" if spec.num_action_features else "mlp or trunks"
        require(fits, "lines", spec, "block 'lines'", f"{others}: with these features")

    def build(self, spec: GameSpec) -> Any:
        """The network for this game with weights from torch's generator; InvalidOption if it does not fit the game."""
        self.check(spec)
        return find_place(__name__, ".lines:LinesNetwork")(spec, self)
