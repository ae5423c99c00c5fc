"""The scripted agent `tables`, and how it learns its pattern values when constructed.

It learns offline, by TD(λ) self-play in one kernel (Sutton 1988). After each game every afterstate moves towards its
λ-return; its ten entries share the step. The step size of an entry falls with the square root of its visits, down to a
minimum that falls too. Complete lines have their score.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cardlab.core.kernels import kernel
from cardlab.core.options import NUMERIC, Flag, Positive
from cardlab.games.cards.deck import Cards, draw_below, draw_seeds, shuffled_decks
from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.poker_squares.patterns import (
    NUM_OPEN,
    NUM_PATTERNS,
    Counts,
    best_cell,
    cell_values,
    line_pattern,
    load_grid,
    make_pattern_tables,
    pattern_value_changes,
    place_card,
    stored_line,
    transpose_values,
    turn_up,
)
from cardlab.games.poker_squares.rules import NUM_CELLS, NUM_LINES, Scores
from cardlab.games.protocol import Actions, Floats, Game, InfoStates, Players, States

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


@cache
def learned_table(scoring: str, custom_scores: tuple[int, ...], games: int, seed: int) -> Floats:
    """[patterns] table of TablesAgent, learned once per process."""
    return learn_pattern_values(
        PokerSquares(scoring=cast(Any, scoring), custom_scores=custom_scores).scores, games, seed
    )


@dataclass(frozen=True)
class TablesAgent:
    """Plays greedily by a table of pattern values, which it learns when constructed.

    It learns from `games` games of self-play by TD(λ) in one kernel, in seconds. It is the fastest agent for playouts.
    Learning settles on flushes in rows or in columns by chance. A search should use the table that matches its policy:
    as learned, or `transposed`.
    """

    game: PokerSquares
    games: Positive = 100_000
    seed: Annotated[int, Field(ge=0), NUMERIC] = 0
    transposed: Flag = False  # exchanges the values of rows and columns

    def pattern_values(self) -> Floats:
        """[patterns] expected points of a line."""
        values = learned_table(self.game.scoring, tuple(self.game.custom_scores), int(self.games), int(self.seed))
        return transpose_values(values) if self.transposed else values

    def fused_rollouts(self, game: Game) -> Callable[[States], Floats] | None:
        """Its play of `game` in one kernel, from states [G] to payoffs [G, P]; None for another game."""
        return partial(game.pattern_play_out, values=self.pattern_values()) if isinstance(game, PokerSquares) else None

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] cells of the highest value; the first in a tie."""
        return self.action_values(info_states, players).argmax(axis=1).astype(np.int16)

    def action_values(self, info_states: InfoStates, players: Players) -> Floats:
        """[N, 25] expected final score of each cell; -inf where it is taken."""
        return cell_values(info_states, self.pattern_values())

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, 25] of the deterministic choice, and values [N] of the best cells."""
        values = self.action_values(info_states, players)
        chosen = np.arange(NUM_CELLS) == values.argmax(axis=1)[:, None]
        return np.where(chosen, np.float32(0), np.float32(-np.inf)), values.max(axis=1)
