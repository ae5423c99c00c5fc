"""Options of every network. This module imports no torch, so that invalid values are reported without delay."""

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from cardlab.core.options import NUMERIC, Flag, InvalidOption, Number, Text, Whole, option, options
from cardlab.games.protocol import GameSpec
from cardlab.networks.catalogue import NETWORKS

Width = Annotated[int, Field(ge=1, le=8192), NUMERIC]
Widths = Annotated[tuple[Width, ...], Field(min_length=1, max_length=16)]
"""Widths of one or more layers."""
Activation = Annotated[
    Literal["relu", "leaky_relu", "gelu", "tanh"], Field(description="activation: relu, leaky_relu, gelu or tanh")
]


Init = Annotated[
    Literal["small_heads", "torch", "orthogonal", "uniform"],
    Field(description="initial weights: torch, small_heads (small outputs), orthogonal, uniform (±0.5/√(inputs + 1))"),
]


class _Buildable:
    """Base of the options below."""

    name: ClassVar[str]

    def build(self, spec: GameSpec) -> Any:
        """A network for this game with weights from torch's generator; InvalidOption if it does not fit the game."""
        self.check(spec)
        return resolve_name(NETWORKS[self.name])(spec, self)

    def check(self, spec: GameSpec) -> None:
        """Raise InvalidOption if the network does not fit the game; imports no torch."""


@options("network")
class MLPOptions(_Buildable):
    """A multilayer perceptron over the whole observation; fits every game."""

    name: ClassVar[str] = "mlp"
    widths: Widths = option((256, 256), "layer widths of the trunk")
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
        if self.layer_norm and self.batch_norm:
            raise InvalidOption("network.batch_norm", self.batch_norm, "false with network.layer_norm")
        if self.value_range is not None and not self.value_range[0] < self.value_range[1]:
            raise InvalidOption("network.value_range", list(self.value_range), "a lower and a higher number")


@options("network")
class LinesOptions(_Buildable):
    """One encoder for all lines of cards, plus a context; for games whose observation has a block `lines`."""

    name: ClassVar[str] = "lines"
    line_widths: Widths = option((64, 32), "layer widths of the line encoder")
    context_widths: Widths = option((64,), "layer widths over the pooled lines and the rest of the observation")
    pooling: Literal["mean", "concat"] = option(
        "mean", "pooling of lines for the context: mean, or concat where the order of lines matters"
    )
    activation: Activation = "relu"

    def check(self, spec: GameSpec) -> None:
        """Raise InvalidOption without a block of lines."""
        if not any(block.name == "lines" and len(block.shape) == 2 for block in spec.blocks):
            others = "mlp, trunks or actions" if spec.num_action_features else "mlp or trunks"
            expected = f"{others}: with these features {spec.name} has no block 'lines'"
            raise InvalidOption("network", self.name, expected)


@options("network")
class SparseLinesOptions(_Buildable):
    """Sums of embeddings of the codes of each line of cards; the fastest network; needs game.features=sparse_lines."""

    name: ClassVar[str] = "sparse_lines"
    width: Whole = option(64, "width of the embeddings", ge=1, le=1024)

    def check(self, spec: GameSpec) -> None:
        """Raise InvalidOption without codes of lines."""
        if not spec.num_codes:
            remedy = "mlp or trunks, or game=poker_squares game.features=sparse_lines"
            expected = f"{remedy}: with these features {spec.name} has no sparse lines"
            raise InvalidOption("network", self.name, expected)


@options("network")
class ActionsOptions(_Buildable):
    """Encoded legal actions scored against the encoded state; for games with action features."""

    name: ClassVar[str] = "actions"
    state_widths: Widths = option((256, 128), "layer widths of the state encoder")
    action_widths: Widths = option((128,), "layer widths of the action encoder")
    joint_widths: Widths = option((64,), "layer widths over the sum of encoded state and action")
    activation: Activation = "relu"

    def check(self, spec: GameSpec) -> None:
        """Raise InvalidOption without action features."""
        if not spec.num_action_features:
            raise InvalidOption("network", self.name, f"mlp or trunks: {spec.name} has no action features")


@options("network")
class ProtoActionOptions(_Buildable):
    """A proto-action, and scores of the legal actions nearest to it only; for PPO and games with action features."""

    name: ClassVar[str] = "proto_action"
    neighbors: Whole | None = option(
        4, "legal actions nearest to the proto-action that may be played; null: all legal actions", ge=2
    )
    dimensions: Whole = option(32, "numbers of the proto-action and of each embedded action", ge=1, le=1024)
    state_widths: Widths = option((256, 128), "layer widths of the state encoder")
    action_widths: Widths = option((128,), "layer widths of the encoder of the nearest actions")
    joint_widths: tuple[Width, ...] = option(
        (64,),
        "layer widths over state and nearest action; []: the nearest are scored by their distance only",
        max_length=16,
    )
    activation: Activation = "relu"

    def check(self, spec: GameSpec) -> None:
        """Raise InvalidOption without action features."""
        if not spec.num_action_features:
            raise InvalidOption("network", self.name, f"mlp or trunks: {spec.name} has no action features")


@options("network")
class AbstractActionsOptions(_Buildable):
    """A score per abstract action: lowest, highest and least splitting play of each kind; for PPO at Big 2."""

    name: ClassVar[str] = "abstract_actions"
    widths: Widths = option((256, 256), "layer widths of the trunk")
    activation: Activation = "relu"

    def check(self, spec: GameSpec) -> None:
        """Raise InvalidOption without the action features that define the abstract actions."""
        if not {"kind", "strength", "splits"} <= {block.name for block in spec.action_blocks}:
            expected = f"mlp or trunks: {spec.name} has no action features kind, strength and splits"
            raise InvalidOption("network", self.name, expected)


@options("network")
class TrunksOptions(_Buildable):
    """One trunk and head per kind of decision, e.g. turn and swap of Thirty-One; fits every game."""

    name: ClassVar[str] = "trunks"
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


@options("network")
class BeliefOptions(_Buildable):
    """The belief network: a multilayer perceptron over the whole observation."""

    name: ClassVar[str] = "belief"  # registry key of its folder
    widths: Widths = option((384, 256), "layer widths of the trunk")
    activation: Activation = "relu"


NETWORK_OPTIONS = {
    options.name: options
    for options in (
        MLPOptions,
        LinesOptions,
        SparseLinesOptions,
        ActionsOptions,
        ProtoActionOptions,
        AbstractActionsOptions,
        TrunksOptions,
    )
}
"""Networks of an experiment, by registry key."""
