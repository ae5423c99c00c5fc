"""The kinds of opponents by registry key, as in conf/opponents/; imported on use."""

from importlib import import_module
from typing import Any

OPPONENTS = {
    "self_play": "cardlab.learners.rollouts.opponents.fixed:FixedField",
    "scripted": "cardlab.learners.rollouts.opponents.fixed:FixedField",
    "pool": "cardlab.learners.rollouts.opponents.pool:Pool",
}


def opponents_class(name: str) -> Any:
    """The class of the opponents `name`."""
    module, _, class_name = OPPONENTS[name].partition(":")
    return getattr(import_module(module), class_name)
