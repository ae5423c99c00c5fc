"""Agents of the small games by name, as scripted agents of a real game are found."""

import io
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest
from rich.console import Console

from cardlab.agents.registry import HEURISTICS
from small_games.high_card import HighCard, Shower


@pytest.fixture
def high_card_agents(monkeypatch):
    """`high`, `low` and `random` for HighCard, in this process only."""
    name = "cardlab.agents.heuristics.high_card"
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    module.high, module.low = Shower, lambda game: Shower(game, best=False)
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(HEURISTICS, "high_card", {agent: f"{name}:{agent}" for agent in ("high", "low")})
    return HighCard


@pytest.fixture
def text_of():
    """What a terminal shows of something that rich can print."""

    def shown(printable, width=160):
        console = Console(file=io.StringIO(), width=width)
        console.print(printable)
        return console.file.getvalue()

    return shown
