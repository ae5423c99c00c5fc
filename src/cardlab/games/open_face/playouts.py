"""Random playouts of Open-face in one kernel, for the leaves of Monte Carlo search."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.array_checks import checked_function
from cardlab.games.cards.deck import draw_below, draw_seeds
from cardlab.games.cards.hands import CARD_KEYS, Strengths, front_table, strength_table
from cardlab.games.open_face.game import OpenFace
from cardlab.games.open_face.royalties import row_rank
from cardlab.games.open_face.rules import NUM_DEALT, NUM_ROWS, capacity, owner, score_boards, to_int64
from cardlab.games.protocol import Floats, States


@checked_function(OpenFace)
def play_out(
    states: States,
    rng: np.random.Generator,
    options: Mapping[str, Any] | None = None,  # noqa: ARG001  one signature for all games
) -> Floats:
    """[G, 2] points when both players play uniformly at random from `states`, which are not modified.

    `options` (`GameSpec.options`) do not change the points.
    """
    seeds = draw_seeds(len(states), rng)
    first = final_scores(states, seeds, strength_table(), front_table())
    return np.stack([first, 0.0 - first], axis=1)


@kernel
def final_scores(states: States, seeds: NDArray[np.uint64], strengths: Strengths, fronts: NDArray[np.int32]) -> Floats:
    """[G] points of player 0 after each remaining card goes to a random row with room, seeded by seeds[g]."""
    scores = np.empty(states.shape[0], dtype=np.float32)
    keys = np.empty((2, NUM_ROWS), dtype=np.int64)
    room = np.empty((2, NUM_ROWS), dtype=np.int64)
    ranks = np.empty((2, NUM_ROWS), dtype=np.int32)
    for g in range(states.shape[0]):
        state = states[g]
        for player in range(2):
            for row in range(NUM_ROWS):
                keys[player, row] = state["keys"][player, row]
                room[player, row] = capacity(row) - to_int64(state["sizes"][player, row])
        for step in range(to_int64(state["step"]), NUM_DEALT):
            player = owner(step)
            row = _draw_row(room[player], seeds[g], step)
            keys[player, row] += CARD_KEYS[state["deck"][step]]
            room[player, row] -= 1
        for player in range(2):
            for row in range(NUM_ROWS):
                ranks[player, row] = row_rank(strengths, fronts, keys[player, row], row)
        scores[g] = score_boards(ranks[0], ranks[1])
    return scores


@kernel
def _draw_row(room: NDArray[np.int64], seed: np.uint64, step: int) -> int:
    """One of the rows with `room` [3], drawn uniformly."""
    count = 0
    for row in range(NUM_ROWS):
        count += 1 if room[row] > 0 else 0
    left = draw_below(count, seed, step) if count > 1 else 0
    for row in range(NUM_ROWS):
        if room[row] > 0:
            if left == 0:
                return row
            left -= 1
    return -1
