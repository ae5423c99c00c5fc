"""One kind of thing that can be counted in a finished game."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Outcome:
    """How often each of some things happened to each player of each game."""

    title: str
    labels: tuple[str, ...]  # [L]
    counts: NDArray[np.floating[Any]]  # [G, P, L]


def one_hot(values: NDArray[np.integer[Any]], size: int) -> NDArray[np.float32]:
    """[…, size] 1 at the place that each of `values` […] names, within 0 to size − 1."""
    return (np.clip(values, 0, size - 1)[..., None] == np.arange(size)).astype(np.float32)
