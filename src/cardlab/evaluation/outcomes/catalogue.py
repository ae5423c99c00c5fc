"""The modules that count what happened in finished games, by game."""

from importlib import import_module
from types import ModuleType

OUTCOMES = {
    "poker_squares": "cardlab.evaluation.outcomes.poker_squares",
    "thirty_one": "cardlab.evaluation.outcomes.thirty_one",
    "five_o": "cardlab.evaluation.outcomes.five_o",
    "open_face": "cardlab.evaluation.outcomes.open_face",
    "big2": "cardlab.evaluation.outcomes.big2",
}
"""Game → module with `read(states)`, and ACTION_NAMES and ACTION_GROUPS where actions are counted too."""


def find_outcomes(name: str) -> ModuleType | None:
    """The module of the game `name`; None without one."""
    return import_module(OUTCOMES[name]) if name in OUTCOMES else None
