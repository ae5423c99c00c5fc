"""Random playouts of Five-O in one kernel, for the leaves of Monte Carlo search."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.array_checks import checked_function
from cardlab.games.cards.deck import draw_below, draw_seeds
from cardlab.games.cards.hands import CARD_KEYS, Strengths, strength_table
from cardlab.games.five_o.game import FiveO
from cardlab.games.five_o.rules import (
    COLUMN_SIZE,
    NUM_COLUMNS,
    NUM_PLAYERS,
    NUM_TURNS,
    OVER,
    PLAYING,
    Record,
    Records,
    compute_payoffs,
    count_won,
    round_of,
)
from cardlab.games.protocol import Floats, States
from cardlab.games.record_arrays import copied


@checked_function(FiveO)
def play_out(
    states: States,
    rng: np.random.Generator,
    options: Mapping[str, Any] | None = None,  # noqa: ARG001  one signature for all games
) -> Floats:
    """[G, 2] payoffs when both players play uniformly at random from `states`, which are not modified."""
    ended = States(copied(states))
    finish_at_random(strength_table(), ended, draw_seeds(len(states), rng))
    return compute_payoffs(ended)


@kernel
def finish_at_random(table: Strengths, states: Records, seeds: NDArray[np.uint64]) -> None:
    """Set the columns won and the phase of `states` [G] after random play by seeds[g]; the cards are not updated."""
    keys = np.empty((NUM_PLAYERS, NUM_COLUMNS), dtype=np.int64)
    for g in range(states.shape[0]):
        state = states[g]
        if state["phase"] == PLAYING:
            fill_columns(state, seeds[g], keys)
            count_won(table, keys, state["won"])
            state["phase"] = OVER


@kernel
def fill_columns(state: Record, seed: np.uint64, keys: NDArray[np.int64]) -> None:
    """Write the keys [2, 5] of the columns after each card of the deck goes to a random column with room.

    The columns of a player that lack the card of the round receive theirs in random order, which equals uniform play.
    """
    room = np.empty((NUM_PLAYERS, NUM_COLUMNS), dtype=np.int64)  # columns that lack the card of the round
    counts = np.zeros(NUM_PLAYERS, dtype=np.int64)
    turn = int(np.int64(state["turn"]))
    full = round_of(turn)
    for player in range(NUM_PLAYERS):
        for column in range(NUM_COLUMNS):
            keys[player, column] = state["keys"][player, column]
            if state["sizes"][player, column] < full:
                room[player, counts[player]] = column
                counts[player] += 1
    while turn < NUM_TURNS:
        player = turn & 1
        chosen = draw_below(counts[player], seed, turn) if counts[player] > 1 else 0
        keys[player, room[player, chosen]] += CARD_KEYS[state["deck"][turn]]
        counts[player] -= 1
        room[player, chosen] = room[player, counts[player]]
        turn += 1
        if counts[0] == 0 and counts[1] == 0 and full < COLUMN_SIZE:
            full += 1
            for side in range(NUM_PLAYERS):
                counts[side] = NUM_COLUMNS
                for column in range(NUM_COLUMNS):
                    room[side, column] = column
