"""Agents of Rock, paper, scissors by name, as scripted agents of a real game are found."""

import pytest

from small_games.roshambo import CHOICES, Fixed, Roshambo


def rock(game):
    return Fixed(CHOICES.index("rock"))


def paper(game):
    return Fixed(CHOICES.index("paper"))


def scissors(game):
    return Fixed(CHOICES.index("scissors"))


@pytest.fixture
def roshambo_agents(monkeypatch):
    """`rock`, `paper` and `scissors` for Roshambo, in this process only."""
    monkeypatch.setattr(Roshambo, "agents", {name: f".scripted:{name}" for name in CHOICES}, raising=False)
    return Roshambo
