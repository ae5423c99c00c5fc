"""Registry of opponents, as in conf/opponents/; modules are imported on use."""

from pkgutil import resolve_name
from typing import Any

OPPONENTS = {
    "self_play": "cardlab.learners.rollouts.opponents.fixed:FixedOpponents",
    "scripted": "cardlab.learners.rollouts.opponents.fixed:FixedOpponents",
    "pool": "cardlab.learners.rollouts.opponents.pool:OpponentPool",
}


def opponents_class(name: str) -> Any:
    """The class of the opponents `name`."""
    return resolve_name(OPPONENTS[name])
