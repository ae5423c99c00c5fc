"""Deduplication of the lines in a batch of observations, so that each distinct line is encoded once.

The afterstates of one decision share most of their lines of cards, as do positions of one batch.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Block, Floats
from cardlab.networks.inputs import Indices

_HASH_FACTORS = np.random.default_rng(0).integers(1, 2**63, 4096, dtype=np.uint64) | np.uint64(1)


def distinct_lines(observations: Floats, block: Block) -> tuple[Floats, Indices]:
    """Distinct lines [D, Fl] of `block` [L, Fl] in `observations` [N, F], and the index [N, L] of each line in them.

    Lines are equal if all their bits are.
    """
    num_lines, width = block.shape
    bits = np.ascontiguousarray(observations).view(np.uint32)
    distinct, indices = find_duplicates(bits, block.start, num_lines, np.resize(_HASH_FACTORS, width))
    return distinct.view(np.float32), indices


@kernel
def find_duplicates(
    bits: NDArray[np.uint32], start: int, num_lines: int, factors: NDArray[np.uint64]
) -> tuple[NDArray[np.uint32], Indices]:
    """`distinct_lines` of `bits` [N, F] by a hash table with open addressing.

    The lines [L, Fl] begin at column `start`; the hash factors [Fl] are odd.
    """
    num_rows, width = len(bits), len(factors)
    size = 16
    while size < 2 * num_rows * num_lines:
        size *= 2
    slots = np.full(size, -1, dtype=np.int64)  # index of a distinct line, or −1
    indices = np.empty((num_rows, num_lines), dtype=np.int64)
    distinct = np.empty((num_rows * num_lines, width), dtype=np.uint32)
    count = 0
    for n in range(num_rows):
        for number in range(num_lines):
            line = bits[n, start + number * width : start + (number + 1) * width]
            mixed = np.uint64(0)
            for k in range(width):
                mixed += np.uint64(line[k]) * factors[k]
            slot = np.int64((mixed >> np.uint64(20)) & np.uint64(size - 1))
            while slots[slot] >= 0 and not _is_equal(line, distinct[slots[slot]]):
                slot = (slot + 1) & (size - 1)
            if slots[slot] < 0:
                slots[slot] = count
                distinct[count] = line
                count += 1
            indices[n, number] = slots[slot]
    return distinct[:count], indices


@kernel
def _is_equal(first: NDArray[np.uint32], second: NDArray[np.uint32]) -> bool:
    difference = np.uint32(0)
    for k in range(len(first)):
        difference |= first[k] ^ second[k]  # no early exit: it would prevent vectorisation
    return difference == 0
