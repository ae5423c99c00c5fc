"""Symmetries of Poker Squares: permutations of rows, columns and suits, and transposition.

5! · 5! · 2 · 4! = 691,200 equivalent forms of every game, for augmentation: equivalent play has equal payoffs. Ranks
are ordered, so they allow no permutation.
"""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_SUITS, Cards
from cardlab.games.poker_squares.rules import NUM_CELLS, SIDE, Records
from cardlab.games.protocol import Actions, Bools, InfoStates, States

S = TypeVar("S", States, InfoStates)


@dataclass(frozen=True)
class Symmetries:
    """One symmetry per game: new positions of rows [G, 5], columns [G, 5] and suits [G, 4], and transposition [G]."""

    rows: Cards
    columns: Cards
    transposed: Bools
    suits: Cards

    def cells(self) -> Actions:
        """[G, 25] the cell (and action) that each cell is mapped to."""
        row = self.rows[:, :, None].astype(np.int16)
        column = self.columns[:, None, :].astype(np.int16)
        turned = self.transposed[:, None, None]
        return np.where(turned, SIDE * column + row, SIDE * row + column).reshape(-1, NUM_CELLS)


def draw_symmetries(num_games: int, rng: np.random.Generator) -> Symmetries:
    """[G] symmetries, drawn uniformly."""

    def orders(size: int) -> Cards:
        return rng.permuted(np.tile(np.arange(size, dtype=np.int8), (num_games, 1)), axis=1)

    return Symmetries(orders(SIDE), orders(SIDE), rng.random(num_games) < 0.5, orders(NUM_SUITS))


def transform(states: S, symmetries: Symmetries) -> tuple[S, Actions]:
    """Equivalent states [G], and the action [G, 25] that each action is mapped to."""
    cells = symmetries.cells()
    moved = np.empty_like(states)
    _transform(states, cells, symmetries.suits, moved)
    return moved, cells


@kernel
def _transform(states: Records, cells: Actions, suits: Cards, moved: Records) -> None:
    for g in range(states.shape[0]):
        moved[g]["turn"] = states[g]["turn"]
        for index in range(NUM_CELLS):
            card = states[g]["grid"][index]
            moved[g]["grid"][cells[g, index]] = card if card < 0 else (card >> 2 << 2) + suits[g, card & 3]
            card = states[g]["deck"][index]
            moved[g]["deck"][index] = card if card < 0 else (card >> 2 << 2) + suits[g, card & 3]
