"""Types of the options that several networks share, with their limits and help. Imports no torch."""

from typing import Annotated, Literal

from pydantic import Field

from cardlab.core.messages import InvalidOption
from cardlab.core.options import NUMERIC
from cardlab.games.protocol import GameSpec

Width = Annotated[int, Field(ge=1, le=8192), NUMERIC]
Widths = Annotated[tuple[Width, ...], Field(min_length=1, max_length=16)]
"""Widths of one or more layers."""
TrunkWidths = Annotated[Widths, Field(description="layer widths of the trunk")]
StateWidths = Annotated[Widths, Field(description="layer widths of the state encoder")]
ActionWidths = Annotated[Widths, Field(description="layer widths of the action encoder")]
JointWidths = Annotated[Widths, Field(description="layer widths over the sum of encoded state and action")]
Activation = Annotated[
    Literal["relu", "leaky_relu", "gelu", "tanh", "softsign"],
    Field(description="activation: relu, leaky_relu, gelu, tanh or softsign, x/(1 + |x|)"),
]
Init = Annotated[
    Literal["small_heads", "torch", "orthogonal", "uniform", "gaussian"],
    Field(description="initial weights: torch, small_heads, orthogonal, uniform (±0.5/√(inputs + 1)), gaussian (0.5)"),
]


def require(fits: bool, network: str, spec: GameSpec, lack: str, instead: str = "mlp or trunks:") -> None:
    """InvalidOption for a network that needs what the game lacks."""
    if not fits:
        raise InvalidOption("network", network, f"{instead} {spec.name} has no {lack}")
