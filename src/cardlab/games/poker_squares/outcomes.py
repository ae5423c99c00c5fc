"""Poker Squares: hands of the ten lines."""

from cardlab.games.abilities import OutcomeCounts, one_hot
from cardlab.games.cards.hands import CATEGORIES
from cardlab.games.poker_squares.rules import line_categories
from cardlab.games.protocol import States


def read(states: States) -> list[OutcomeCounts]:
    """Outcomes of full grids [G]."""
    counts = one_hot(line_categories(states), len(CATEGORIES)).sum(axis=1)
    return [OutcomeCounts("lines of each hand", CATEGORIES, counts[:, None, :])]
