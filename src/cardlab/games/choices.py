"""Uniform choices among legal actions."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Actions, Bools, Starts


@kernel
def choose_uniformly(legal: Bools, uniforms: NDArray[np.float32]) -> Actions:
    """[N] one True column of each row of `legal` [N, A] (C-contiguous), picked by `uniforms` [N] in [0, 1)."""
    num_rows, num_actions = legal.shape
    actions = np.zeros(num_rows, dtype=np.int16)
    found = np.empty(num_actions, dtype=np.int16)
    flat = legal.reshape(-1).view(np.uint8)
    words = flat[: flat.size // 8 * 8].view(np.uint64)
    wide = num_actions > 64  # wide masks are mostly empty: skip eight columns at a time
    for row in range(num_rows):
        start = row * num_actions
        stop = start + num_actions
        count = 0
        at = start
        while at < stop:
            if wide and at % 8 == 0 and at + 8 <= stop and words[at >> 3] == 0:
                at += 8
                continue
            if flat[at]:
                found[count] = at - start
                count += 1
            at += 1
        if count:
            actions[row] = found[min(np.int64(uniforms[row] * count), count - 1)]
    return actions


@kernel
def choose_from_each(legal: Actions, starts: Starts, uniforms: NDArray[np.float32]) -> Actions:
    """[N] the choices of `choose_uniformly`, from ragged lists: legal [K] with row starts [N + 1]."""
    actions = np.zeros(len(uniforms), dtype=np.int16)
    for row in range(len(uniforms)):
        count = starts[row + 1] - starts[row]
        if count:
            actions[row] = legal[starts[row] + min(np.int64(uniforms[row] * count), count - 1)]
    return actions
