"""Parts of an observation that are alike, found in one pass: what each is worth need not be worked out twice.

The afterstates of one decision share most of their lines of cards, and so do positions in one batch.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Block, Floats
from cardlab.networks.inputs import Places

_FACTORS = np.random.default_rng(0).integers(1, 2**63, 4096, dtype=np.uint64) | np.uint64(1)


def distinct_parts(observations: Floats, block: Block) -> tuple[Floats, Places]:
    """Each kind of row of a `block` [L, Fl] once, bit by bit [D, Fl], and the kind [N, L] of each in `observations`."""
    num_parts, width = block.shape
    bits = np.ascontiguousarray(observations).view(np.uint32)
    distinct, kinds = find_repeats(bits, block.start, num_parts, np.resize(_FACTORS, width))
    return distinct.view(np.float32), kinds


@kernel
def find_repeats(
    bits: NDArray[np.uint32], start: int, num_parts: int, factors: NDArray[np.uint64]
) -> tuple[NDArray[np.uint32], Places]:
    """The same by a hash table with open addressing; parts [L, Fl] begin at column `start`, `factors` [Fl] are odd."""
    num_rows, width = len(bits), len(factors)
    size = 16
    while size < 2 * num_rows * num_parts:
        size *= 2
    slots = np.full(size, -1, dtype=np.int64)  # a kind, or none
    kinds = np.empty((num_rows, num_parts), dtype=np.int64)
    distinct = np.empty((num_rows * num_parts, width), dtype=np.uint32)
    count = 0
    for n in range(num_rows):
        for number in range(num_parts):
            part = bits[n, start + number * width : start + (number + 1) * width]
            mixed = np.uint64(0)
            for k in range(width):
                mixed += np.uint64(part[k]) * factors[k]
            place = np.int64((mixed >> np.uint64(20)) & np.uint64(size - 1))
            while slots[place] >= 0 and not _alike(part, distinct[slots[place]]):
                place = (place + 1) & (size - 1)
            if slots[place] < 0:
                slots[place] = count
                distinct[count] = part
                count += 1
            kinds[n, number] = slots[place]
    return distinct[:count], kinds


@kernel
def _alike(one: NDArray[np.uint32], other: NDArray[np.uint32]) -> bool:
    differing = np.uint32(0)
    for k in range(len(one)):
        differing |= one[k] ^ other[k]  # all of them: a loop that may end early is not done by vectors
    return differing == 0
