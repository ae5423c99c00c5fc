"""The options of every network. This module imports no torch, so that a wrong value is refused at once."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from cardlab.core.options import NUMERIC, Flag, InvalidOption, Number, Text, Whole, option, options
from cardlab.games.protocol import Block, GameSpec
from cardlab.networks.catalogue import network_class

if TYPE_CHECKING:
    from cardlab.networks.protocol import Network

Width = Annotated[int, Field(ge=1, le=8192), NUMERIC]
Widths = Annotated[tuple[Width, ...], Field(min_length=1, max_length=16)]
"""Layer sizes, one layer or more."""
Activation = Annotated[
    Literal["relu", "leaky_relu", "gelu", "tanh"], Field(description="activation: relu, leaky_relu, gelu or tanh")
]


@options("network")
class MLPOptions:
    """One perceptron over the whole observation: fits every game."""

    name: ClassVar[str] = "mlp"
    widths: Widths = option((256, 256), "layer widths of the trunk")
    head_widths: tuple[Width, ...] = option((), "layer widths of each head, policy and value", max_length=16)
    activation: Activation = "relu"
    layer_norm: Flag = option(False, "layer normalisation")
    batch_norm: Flag = option(False, "batch normalisation")
    dropout: Number = option(0.0, "dropout rate of each layer, in training", ge=0, le=0.95)
    separate_critic: Flag = option(False, "a separate trunk for the value")
    value_range: tuple[Number, Number] | None = option(
        None, "[low, high] that tanh of the value is scaled to, in units of agent.reward_scale; null: linear"
    )

    def __post_init__(self) -> None:
        if self.layer_norm and self.batch_norm:
            raise InvalidOption("network.batch_norm", self.batch_norm, "false with network.layer_norm")
        if self.value_range is not None and not self.value_range[0] < self.value_range[1]:
            raise InvalidOption("network.value_range", list(self.value_range), "a lower and a higher number")

    def build(self, spec: GameSpec) -> "Network":
        """A fresh network for this game."""
        return network_class(self.name)(spec, self)


@options("network")
class LinesOptions:
    """One encoder shared by all lines of cards, plus a context: for games whose observation has a block `lines`."""

    name: ClassVar[str] = "lines"
    line_widths: Widths = option((64, 32), "layer widths of the encoder that all lines share")
    context_widths: Widths = option((64,), "layer widths over the pooled lines and the rest of the observation")
    pooling: Literal["mean", "concat"] = option(
        "mean", "pooling of lines for the context: mean, or concat where the order of lines matters"
    )
    activation: Activation = "relu"

    def build(self, spec: GameSpec) -> "Network":
        """A fresh network for this game; InvalidOption when it has no lines."""
        return network_class(self.name)(spec, _lines_block(spec), self)


@options("network")
class SparseLinesOptions:
    """Sum of a learned vector per code of a line of cards; the fastest network. Needs game.features=sparse_lines."""

    name: ClassVar[str] = "sparse_lines"
    width: Whole = option(64, "length of the vectors", ge=1, le=1024)

    def build(self, spec: GameSpec) -> "Network":
        """A fresh network for this game; InvalidOption when its observation has no sparse lines."""
        if not spec.num_codes:
            expected = f"another: {spec.name} has no sparse lines (poker_squares has, with game.features=sparse_lines)"
            raise InvalidOption("network", self.name, expected)
        return network_class(self.name)(spec, spec.block("codes"), spec.block("settled"), self.width)


@options("network")
class ActionsOptions:
    """Encoded legal actions scored against the encoded state: for games with action features."""

    name: ClassVar[str] = "actions"
    state_widths: Widths = option((256, 128), "layer widths of the encoder of the state")
    action_widths: Widths = option((128,), "layer widths of the encoder of an action")
    joint_widths: Widths = option((64,), "layer widths over the encoded state and action together")
    activation: Activation = "relu"

    def build(self, spec: GameSpec) -> "Network":
        """A fresh network for this game; InvalidOption when it does not describe its actions."""
        if not spec.num_action_features:
            raise InvalidOption("network", "actions", f"mlp or lines: {spec.name} has no features of actions")
        return network_class(self.name)(spec, self)


@options("network")
class TrunksOptions:
    """One trunk and head per kind of decision, e.g. turn and swap of Thirty-One; fits every game."""

    name: ClassVar[str] = "trunks"
    widths: Widths = option((256, 256), "layer widths of every trunk that is not in `kinds`")
    kinds: Mapping[Text, Widths] = option(
        {}, "kind of decision: layer widths of its trunk, e.g. {swap: [128, 128]}", factory=dict[str, tuple[int, ...]]
    )
    activation: Activation = "relu"

    def build(self, spec: GameSpec) -> "Network":
        """A fresh network for this game; InvalidOption when it has no such kind of decision."""
        for kind, widths in self.kinds.items():
            if kind not in spec.decision_kinds:
                known = ", ".join(spec.decision_kinds)
                raise InvalidOption(f"network.kinds.{kind}", list(widths), f"left out: {spec.name} has only {known}")
        return network_class(self.name)(spec, self)


@options("network")
class BeliefOptions:
    """The belief network: one perceptron over the whole observation."""

    name: ClassVar[str] = "belief"  # registry key of its folder
    widths: Widths = option((384, 256), "layer widths of the trunk")
    activation: Activation = "relu"

    def build(self, spec: GameSpec) -> Any:
        """A fresh network for this game, weights drawn from torch's generator."""
        return network_class(self.name)(spec, self)


NETWORK_OPTIONS = {
    options.name: options for options in (MLPOptions, LinesOptions, SparseLinesOptions, ActionsOptions, TrunksOptions)
}
"""The networks that an experiment chooses from, by registry key."""


def _lines_block(spec: GameSpec) -> Block:
    """The block `lines`; InvalidOption when the game's observation has none."""
    for block in spec.blocks:
        if block.name == "lines" and len(block.shape) == 2:
            return block
    raise InvalidOption("network", "lines", f"mlp or actions: {spec.name} with these features has no block 'lines'")
