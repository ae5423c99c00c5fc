"""Agents of the small games by name, as scripted agents of a real game are found."""

import io

import pytest
from rich.console import Console

from small_games.high_card import HighCard


@pytest.fixture
def high_card_agents(monkeypatch):
    """`high`, `low` and `random` for HighCard, in this process only."""
    places = {"high": ".high_card:Shower", "low": ".high_card:show_lowest"}
    monkeypatch.setattr(HighCard, "agents", places, raising=False)
    return HighCard


@pytest.fixture
def text_of():
    """What a terminal shows of something that rich can print."""

    def shown(printable, width=160):
        console = Console(file=io.StringIO(), width=width)
        console.print(printable)
        return console.file.getvalue()

    return shown
