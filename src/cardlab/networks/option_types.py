"""Types of the options that several networks share, with their limits and help. Imports no torch."""

from typing import Annotated, Literal

from pydantic import Field

from cardlab.core.options import NUMERIC

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
