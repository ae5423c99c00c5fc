"""Values of the columns in the last round of Five-O, when it is the hidden round."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardlab.games.array_checks import checked_function
from cardlab.games.cards.deck import draw_seeds
from cardlab.games.cards.hands import strength_table
from cardlab.games.five_o.game import FiveO
from cardlab.games.five_o.last_round.best_response import best_response_values
from cardlab.games.five_o.last_round.random_order import random_order_values
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, NUM_TURNS, TURNS_PER_ROUND
from cardlab.games.protocol import Bools, Floats, InfoStates, Players
from cardlab.games.rows import take

_HANDS_PER_SAMPLE = 64  # bits of a word


@checked_function(FiveO)
def solvable(info_states: InfoStates, players: Players, options: Mapping[str, Any] | None = None) -> Bools:
    """[G] whether `action_values` applies: `players` place a card of the last round, and it is the hidden round."""
    game = FiveO(**(options or {}))
    last = info_states["turn"] >= NUM_TURNS - TURNS_PER_ROUND
    return last & (game.current_player(info_states) == players) & (game.hidden_round == COLUMN_SIZE)


@checked_function(FiveO)
def action_values(
    info_states: InfoStates,
    players: Players,
    rng: np.random.Generator,
    num_samples: int,
    options: Mapping[str, Any] | None = None,
) -> Floats:
    """[G, 5] expected payoff to `players` of each column under optimal later placements; else -inf.

    `num_samples` > 0: the opponent is modelled as a good player, with 64 sampled hands per sample (best_response.py).
    0: its cards are in uniformly random order, enumerated exactly, and `rng` is unused (random_order.py). Games that
    are not `solvable` have -inf everywhere. `options` are the game's options (`GameSpec.options`).
    """
    values = np.full((len(info_states), NUM_COLUMNS), -np.inf, dtype=np.float32)
    rows = np.flatnonzero(solvable(info_states, players, options))
    by_columns = FiveO(**(options or {})).payoff == "columns"
    states, movers = take(info_states, rows), players[rows]
    if num_samples:
        seeds = draw_seeds(len(rows), rng)
        num_hands = _HANDS_PER_SAMPLE * num_samples
        values[rows] = best_response_values(strength_table(), states, movers, seeds, num_hands, by_columns)
    else:
        values[rows] = random_order_values(strength_table(), states, movers, by_columns)
    return values
