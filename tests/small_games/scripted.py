"""Agents of Rock, paper, scissors by name, as scripted agents of a real game are found."""

import sys
from functools import partial
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

from cardlab.agents.registry import HEURISTICS
from small_games.roshambo import CHOICES, Fixed, Roshambo


def _fixed(number, game):
    return Fixed(number)


@pytest.fixture
def roshambo_agents(monkeypatch):
    """`rock`, `paper` and `scissors` for Roshambo, in this process only."""
    name = "cardlab.agents.heuristics.roshambo"
    module = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    for number, choice in enumerate(CHOICES):
        setattr(module, choice, partial(_fixed, number))
    monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(HEURISTICS, "roshambo", {choice: f"{name}:{choice}" for choice in CHOICES})
    return Roshambo
