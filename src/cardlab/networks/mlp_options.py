"""Options of the network `mlp`. Imports no torch, so that a wrong value is refused quickly."""

from typing import Any

from cardlab.core.options import Flag, Number, check_together, invalid, option, options
from cardlab.core.parts import find_place
from cardlab.games.protocol import GameSpec
from cardlab.networks.option_types import Activation, Init, TrunkWidths, Width


@options("network")
class MLPOptions:
    """A multilayer perceptron over the whole observation; fits every game."""

    widths: TrunkWidths = (256, 256)
    head_widths: tuple[Width, ...] = option((), "layer widths of each head, policy and value", max_length=16)
    activation: Activation = "relu"
    init: Init = "small_heads"
    layer_norm: Flag = option(False, "layer normalisation")
    batch_norm: Flag = option(False, "batch normalisation")
    dropout: Number = option(0.0, "dropout rate of each layer, in training", ge=0, le=0.95)
    separate_critic: Flag = option(False, "a separate trunk for the value")
    value_range: tuple[Number, Number] | None = option(
        None, "[low, high] of a tanh output of the value, in units of agent.reward_scale; null: linear output"
    )

    def __post_init__(self) -> None:
        check_together(self, {"layer_norm": {"batch_norm": False}})
        if self.value_range is not None and not self.value_range[0] < self.value_range[1]:
            raise invalid(self, "value_range", "a lower and a higher number")

    def check(self, spec: GameSpec) -> None:
        """Do nothing: it fits every game."""

    def build(self, spec: GameSpec) -> Any:
        """The network for this game with weights from torch's generator; InvalidOption if it does not fit the game."""
        self.check(spec)
        return find_place(__name__, ".mlp:MLP")(spec, self)
