"""Hiding the cards after the face-up card, and sampling them."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, list_unseen, shuffle
from cardlab.games.poker_squares.rules import NUM_CELLS, Records


@kernel
def hide(states: Records) -> None:
    """Hide the cards after the face-up card."""
    for g in range(states.shape[0]):
        state = states[g]
        for index in range(state["turn"] + 1, NUM_CELLS):
            state["deck"][index] = -1


@kernel
def fill(states: Records, seeds: NDArray[np.uint64]) -> None:
    """Draw every unknown future card uniformly from the unseen cards, seeded by seeds[g]."""
    unseen = np.empty(NUM_CARDS, dtype=np.int8)
    for g in range(states.shape[0]):
        state = states[g]
        count = list_unseen(unseen, state["grid"], state["deck"])
        shuffle(unseen, count, seeds[g])
        for index in range(state["turn"], NUM_CELLS):
            if state["deck"][index] < 0:
                count -= 1
                state["deck"][index] = unseen[count]
