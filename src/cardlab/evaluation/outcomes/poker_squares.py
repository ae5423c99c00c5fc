"""Poker Squares: which hands the ten lines became."""

from cardlab.evaluation.outcomes.outcome import Outcome, one_hot
from cardlab.games.poker_squares.rules import CATEGORIES, line_categories
from cardlab.games.protocol import States


def read(states: States) -> list[Outcome]:
    """Of full grids [G]."""
    counts = one_hot(line_categories(states), len(CATEGORIES)).sum(axis=1)
    return [Outcome("lines of each hand", CATEGORIES, counts[:, None, :])]
