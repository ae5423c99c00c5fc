"""Hypergeometric probabilities that given cards turn up before the grid is full, as lookup tables.

With `seen` of the 52 cards seen, 25 - seen of the 52 - seen unseen cards are still to be drawn.
"""

from math import comb

import numpy as np
from numpy.typing import NDArray

MAX_COPIES = 13  # of one suit
MAX_NEED = 5

Table = NDArray[np.float32]


def probability_at_least(seen: int, copies: int, need: int) -> float:
    """P(at least `need` of `copies` cards turn up in the remaining draws), with `seen` of the 52 cards seen."""
    unseen, draws = 52 - seen, 25 - seen
    hits = range(need, min(copies, draws) + 1)
    if copies > unseen:
        return 0.0
    return sum(comb(copies, hit) * comb(unseen - copies, draws - hit) for hit in hits) / comb(unseen, draws)


def _at_least() -> Table:
    """[26, 14, 6] by cards seen, copies, need."""
    shape = (26, MAX_COPIES + 1, MAX_NEED + 1)
    return np.array([probability_at_least(*index) for index in np.ndindex(shape)], dtype=np.float32).reshape(shape)


AT_LEAST_PROBABILITY = _at_least()
ALL_PROBABILITY = np.stack([AT_LEAST_PROBABILITY[:, need, need] for need in range(MAX_NEED + 1)], axis=1)
"""[26, 6] probability that all `need` cards turn up."""
