"""Configurations as tests need them."""

from collections.abc import Sequence
from typing import Any

from cardlab.assembly.composition import compose_config


def compose_experiment(overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The experiment that `cardlab train` trains with these overrides; what else the command takes is left out."""
    config = compose_config("train", overrides)
    assert config.pop("resume") is None
    return config
