"""Counts of outcomes in finished games."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class OutcomeCounts:
    """Counts of the labels of one title, per game and player."""

    title: str
    labels: tuple[str, ...]  # [L]
    counts: NDArray[np.floating[Any]]  # [G, P, L]


def one_hot(values: NDArray[np.integer[Any]], size: int) -> NDArray[np.float32]:
    """[…, size] one-hot encoding of `values` […], each within 0 to size − 1."""
    return (np.clip(values, 0, size - 1)[..., None] == np.arange(size)).astype(np.float32)
