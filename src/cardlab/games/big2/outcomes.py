"""Big 2: cards left at the end, and kinds of hands played."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.abilities import OutcomeCounts, one_hot
from cardlab.games.big2.actions import KINDS, classify
from cardlab.games.big2.rules import NUM_PLAYERS, PLAYED
from cardlab.games.protocol import States

_HAND = 13


@kernel
def count_hands(states: States) -> NDArray[np.float32]:
    """[G, 4, 9] number of hands of each kind per player, from the move of every card in the state."""
    counts = np.zeros((states.shape[0], NUM_PLAYERS, 9), dtype=np.float32)
    cards = np.empty(5, dtype=np.int8)
    for g in range(states.shape[0]):
        state = states[g]
        place = state["place"]
        for move in range(int(state["moves"])):
            size = 0
            for card in range(52):
                if place[card] == PLAYED + move:
                    cards[size] = card
                    size += 1
            if size > 0:
                kind, _ = classify(cards, size)
                counts[g, (int(state["opener"]) + move) % 4, kind] += 1
    return counts


def read(states: States) -> list[OutcomeCounts]:
    """Outcomes of finished games [G]."""
    left = tuple(map(str, range(_HAND + 1)))
    return [
        OutcomeCounts("cards left", left, one_hot(states["counts"], len(left))),
        OutcomeCounts("hands played of each kind", KINDS, count_hands(states)),
    ]
