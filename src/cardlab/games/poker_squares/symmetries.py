"""Symmetries of Poker Squares: permutations of rows, columns and suits, and transposition.

5! · 5! · 2 · 4! = 691,200 equivalent forms of every game, for augmentation: equivalent play has equal payoffs. Ranks
are ordered, so they allow no permutation.
"""

from typing import TypeVar

import numpy as np

from cardlab.games.cards.deck import NUM_SUITS, Cards
from cardlab.games.poker_squares.rules import NUM_CELLS, SIDE
from cardlab.games.protocol import Actions, InfoStates, States

S = TypeVar("S", States, InfoStates)


def transform(states: S, rng: np.random.Generator) -> tuple[S, Actions]:
    """An equivalent form of each state [G], drawn uniformly, and the action [G, 25] that each action is mapped to."""

    def orders(size: int) -> Cards:
        return rng.permuted(np.tile(np.arange(size, dtype=np.int8), (len(states), 1)), axis=1)

    row, column = orders(SIDE)[:, :, None].astype(np.int16), orders(SIDE)[:, None, :].astype(np.int16)
    transposed = (rng.random(len(states)) < 0.5)[:, None, None]
    suits = orders(NUM_SUITS)
    cells = np.where(transposed, SIDE * column + row, SIDE * row + column).reshape(-1, NUM_CELLS)

    def with_new_suits(cards: Cards) -> Cards:
        renamed = (cards >> 2 << 2) + np.take_along_axis(suits, cards.astype(np.intp) & 3, axis=1)
        return np.where(cards < 0, cards, renamed)

    moved = states.copy()
    np.put_along_axis(moved["grid"], cells.astype(np.intp), with_new_suits(states["grid"]), axis=1)
    moved["deck"] = with_new_suits(states["deck"])
    return moved, cells
