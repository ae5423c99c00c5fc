"""Offline TD(λ) self-play in one kernel for a table of pattern values (Sutton 1988).

After each game every afterstate moves towards its λ-return; its ten entries share the step. The step size of an entry
falls with the square root of its visits, down to a minimum that falls too. Complete lines have their score.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import Cards, draw_below, draw_seeds, shuffled_decks
from cardlab.games.poker_squares.patterns import (
    NUM_OPEN,
    NUM_PATTERNS,
    Counts,
    best_cell,
    line_pattern,
    load_grid,
    make_pattern_tables,
    pattern_value_changes,
    place_card,
    stored_line,
    turn_up,
)
from cardlab.games.poker_squares.rules import NUM_CELLS, NUM_LINES, Scores
from cardlab.games.protocol import Floats

TD_LAMBDA = 0.8
INITIAL_STEP = 0.1
MIN_STEP, FINAL_MIN_STEP = 0.003, 0.0003  # minimum step size at the start and at the end
EXPLORATION_SHARE = 0.4  # share of the games with random moves
MOVES_PER_RANDOM_MOVE = 33
CHUNK_GAMES = 10_000


def learn_pattern_values(scores: Scores, num_games: int, seed: int) -> Floats:
    """[NUM_PATTERNS] expected final points of a line by its pattern, after `num_games` games."""
    rng = np.random.default_rng(seed)
    values = np.zeros(NUM_PATTERNS, dtype=np.float32)
    values[NUM_OPEN:] = scores
    visits = np.zeros(NUM_PATTERNS, dtype=np.int64)
    for first in range(0, num_games, CHUNK_GAMES):
        count = min(CHUNK_GAMES, num_games - first)
        random_move_period = MOVES_PER_RANDOM_MOVE if first < EXPLORATION_SHARE * num_games else 0
        min_step = max(FINAL_MIN_STEP, MIN_STEP * (1 - first / num_games))
        train_on_games(shuffled_decks(count, rng), draw_seeds(count, rng), values, visits, random_move_period, min_step)
    return values


@kernel
def train_on_games(
    decks: Cards, seeds: NDArray[np.uint64], values: Floats, visits: Counts, random_move_period: int, min_step: float
) -> None:
    """Play `decks` [G, 52] greedily, update after each; one in `random_move_period` moves is random (0: none)."""
    tables = make_pattern_tables()
    empty_grid = np.full(NUM_CELLS, -1, dtype=np.int8)
    patterns = np.empty((NUM_CELLS, NUM_LINES), dtype=np.int64)
    for g in range(decks.shape[0]):
        load_grid(tables, empty_grid)
        for turn in range(NUM_CELLS):
            card = int(np.int64(decks[g, turn]))
            turn_up(tables, card)
            pattern_value_changes(tables, card, turn + 1, values)
            if random_move_period > 0 and draw_below(random_move_period, seeds[g], 2 * turn) == 0:
                cell = _empty_cell(tables.grid, draw_below(NUM_CELLS - turn, seeds[g], 2 * turn + 1))
            else:
                cell = best_cell(tables.grid, tables.changes)
            place_card(tables, cell, card)
            for line in range(NUM_LINES):
                contents = stored_line(tables.lines, line)
                patterns[turn, line] = line_pattern(line, contents, turn + 1, tables.by_rank, tables.by_suit)
        _update_values(patterns, values, visits, min_step)


@kernel
def _empty_cell(grid: Cards, number: int) -> int:
    """The empty cell preceded by `number` empty cells."""
    for cell in range(NUM_CELLS):
        if grid[cell] < 0:
            if number == 0:
                return cell
            number -= 1
    return -1


@kernel
def _update_values(patterns_by_turn: Counts, values: Floats, visits: Counts, min_step: float) -> None:
    """Move the values of the afterstates `patterns_by_turn` [25, 10] of a game towards their λ-returns."""
    next_value = 0.0
    for pattern in patterns_by_turn[NUM_CELLS - 1]:
        next_value += values[pattern]  # the score of the full grid
    target = next_value
    for turn in range(NUM_CELLS - 2, -1, -1):
        target = TD_LAMBDA * target + (1 - TD_LAMBDA) * next_value
        value = 0.0
        for pattern in patterns_by_turn[turn]:
            value += values[pattern]
        for pattern in patterns_by_turn[turn]:
            if pattern < NUM_OPEN:
                visits[pattern] += 1
                values[pattern] += max(min_step, INITIAL_STEP / np.sqrt(visits[pattern])) * (target - value)
        next_value = value
