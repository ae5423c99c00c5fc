"""What the columns of Five-O's last round are worth, where nothing that is still to be placed will be seen."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from cardlab.games.arrays import checked_function
from cardlab.games.cards.deck import draw_seeds
from cardlab.games.cards.hands import strength_table
from cardlab.games.five_o.game import FiveO
from cardlab.games.five_o.last_round.best_response import reply_values
from cardlab.games.five_o.last_round.random_order import column_values
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, NUM_TURNS, TURNS_A_ROUND
from cardlab.games.protocol import Bools, Floats, InfoStates, Players
from cardlab.games.rows import take

_GUESSES_A_SAMPLE = 64  # a word of bits


@checked_function(FiveO)
def solvable(info_states: InfoStates, players: Players, options: Mapping[str, Any] | None = None) -> Bools:
    """[G] whether `action_values` knows the game: `players` place a card of the last round, the hidden one."""
    game = FiveO(**(options or {}))
    last = info_states["turn"] >= NUM_TURNS - TURNS_A_ROUND
    return last & (game.current_player(info_states) == players) & (game.hidden_round == COLUMN_SIZE)


@checked_function(FiveO)
def action_values(
    info_states: InfoStates,
    players: Players,
    rng: np.random.Generator,
    num_samples: int,
    options: Mapping[str, Any] | None = None,
) -> Floats:
    """[G, 5] expected payoff to `players` of each column when their later cards are placed for the best; else -inf.

    With `num_samples` the opponent fills its columns well, guessed 64 times for each of them (replies.py); with 0 its
    cards may lie in any order, all of which are counted, and nothing is drawn from `rng` (last_round.py). Games that
    are not `solvable` have -inf everywhere. `options` are the game's (`GameSpec.options`).
    """
    values = np.full((len(info_states), NUM_COLUMNS), -np.inf, dtype=np.float32)
    rows = np.flatnonzero(solvable(info_states, players, options))
    by_columns = FiveO(**(options or {})).payoff == "columns"
    here, movers = take(info_states, rows), players[rows]
    if num_samples:
        seeds = draw_seeds(len(rows), rng)
        guesses = _GUESSES_A_SAMPLE * num_samples
        values[rows] = reply_values(strength_table(), here, movers, seeds, guesses, by_columns)
    else:
        values[rows] = column_values(strength_table(), here, movers, by_columns)
    return values
