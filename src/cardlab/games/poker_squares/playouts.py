"""Random playouts of Poker Squares in one kernel, for the leaves of Monte Carlo search."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.array_checks import checked_function
from cardlab.games.cards.deck import draw_below, draw_seeds
from cardlab.games.cards.hands import CARD_KEYS, STRENGTH_CATEGORIES, Int, Strengths, five_card_strength, strength_table
from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.poker_squares.rules import NUM_CELLS, NUM_LINES, SIDE, Records, Scores
from cardlab.games.protocol import Floats, States


@checked_function(PokerSquares)
def play_out(states: States, rng: np.random.Generator, options: Mapping[str, Any] | None = None) -> Floats:
    """[G, 1] scores when every remaining card goes to a random empty cell; `states` are not modified.

    `options` are the game's options (`GameSpec.options`); None: the defaults.
    """
    scores = PokerSquares(**(options or {})).scores
    return final_scores(strength_table(), states, draw_seeds(len(states), rng), scores)


@kernel
def key_points(table: Strengths, key: Int, scores: Scores) -> int:
    """Points of a complete line whose card keys sum to `key` (games/cards/hands.py)."""
    return int(scores[STRENGTH_CATEGORIES[five_card_strength(table, key)]])


@kernel
def final_scores(table: Strengths, states: Records, seeds: NDArray[np.uint64], scores: Scores) -> Floats:
    """[G, 1] sum of the ten lines once the cards of the deck fill the empty cells in a random order by seeds[g]."""
    totals = np.empty((states.shape[0], 1), dtype=np.float32)
    keys = np.empty(NUM_LINES, dtype=np.int64)
    empty = np.empty(NUM_CELLS, dtype=np.int64)
    for g in range(states.shape[0]):
        state = states[g]
        keys[:] = 0
        count = 0
        for cell in range(NUM_CELLS):
            if state["grid"][cell] >= 0:
                _add_card(keys, cell, state["grid"][cell])
            else:
                empty[count] = cell
                count += 1
        for turn in range(np.int64(state["turn"]), NUM_CELLS):
            chosen = draw_below(count, seeds[g], turn)
            _add_card(keys, empty[chosen], state["deck"][turn])
            count -= 1
            empty[chosen] = empty[count]
        total = 0
        for line in range(NUM_LINES):
            total += key_points(table, keys[line], scores)
        totals[g, 0] = total
    return totals


@kernel
def _add_card(keys: NDArray[np.int64], cell: int, card: int) -> None:
    """Add `card` to the keys of the row and the column of `cell`."""
    keys[cell // SIDE] += CARD_KEYS[card]
    keys[SIDE + cell % SIDE] += CARD_KEYS[card]
