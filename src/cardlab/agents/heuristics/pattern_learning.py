"""A table of values of patterns, learned by TD(λ) from its own games in one kernel.

Sutton 1988, in its offline form: after each game every afterstate moves towards its λ-return, each of its ten entries
by the same share. An entry's step falls with the root of how often it was seen, down to a least one that falls too.
Complete lines count what they score.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS, Cards, draw_below, draw_seeds, shuffled_decks
from cardlab.games.poker_squares.patterns import (
    NUM_OPEN,
    NUM_PATTERNS,
    Counts,
    best_cell,
    count_unseen,
    line_pattern,
    line_with_card,
    pattern_value_changes,
    store_line,
)
from cardlab.games.poker_squares.rules import NUM_CELLS, NUM_LINES, SIDE, Scores, scan_line
from cardlab.games.protocol import Floats

TD_LAMBDA = 0.8
FIRST_RATE = 0.1
LEAST_RATE, LAST_RATE = 0.003, 0.0003  # at the start and at the end
EXPLORING = 0.4  # share of the games in which every so many moves is a random one
MOVES_A_RANDOM_ONE = 33
GAMES_AT_ONCE = 10_000


def learn_table(scores: Scores, num_games: int, seed: int) -> Floats:
    """[NUM_PATTERNS] expected final points of a line by its pattern, after `num_games` games."""
    rng = np.random.default_rng(seed)
    values = np.zeros(NUM_PATTERNS, dtype=np.float32)
    values[NUM_OPEN:] = scores
    seen = np.zeros(NUM_PATTERNS, dtype=np.int64)
    for first in range(0, num_games, GAMES_AT_ONCE):
        count = min(GAMES_AT_ONCE, num_games - first)
        wander = MOVES_A_RANDOM_ONE if first < EXPLORING * num_games else 0
        least = max(LAST_RATE, LEAST_RATE * (1 - first / num_games))
        learn_from_games(shuffled_decks(count, rng), draw_seeds(count, rng), values, seen, wander, least)
    return values


@kernel
def learn_from_games(
    decks: Cards, seeds: NDArray[np.uint64], values: Floats, seen: Counts, wander: int, least_rate: float
) -> None:
    """Play `decks` [G, 52] one step ahead and learn after each; with `wander`, one move in so many is random."""
    grid = np.empty(NUM_CELLS, dtype=np.int8)
    by_rank = np.empty(NUM_RANKS, dtype=np.int64)
    by_suit = np.empty(NUM_SUITS, dtype=np.int64)
    lines = np.empty((NUM_LINES, 5), dtype=np.int64)
    changes = np.empty(NUM_LINES, dtype=np.float32)
    path = np.empty((NUM_CELLS, NUM_LINES), dtype=np.int64)
    for g in range(decks.shape[0]):
        grid[:] = -1
        count_unseen(grid, -1, by_rank, by_suit)
        for line in range(NUM_LINES):
            store_line(lines, line, scan_line(grid, line))
        for turn in range(NUM_CELLS):
            card = int(np.int64(decks[g, turn]))
            by_rank[card >> 2] -= 1
            by_suit[card & 3] -= 1
            pattern_value_changes(lines, card, turn + 1, by_rank, by_suit, values, changes)
            if wander > 0 and draw_below(wander, seeds[g], 2 * turn) == 0:
                cell = _empty_cell(grid, draw_below(NUM_CELLS - turn, seeds[g], 2 * turn + 1))
            else:
                cell = best_cell(grid, changes)
            grid[cell] = card
            for line in (cell // SIDE, SIDE + cell % SIDE):
                store_line(lines, line, line_with_card(lines, line, card))
            _keep_patterns(lines, turn + 1, by_rank, by_suit, path[turn])
        _learn(path, values, seen, least_rate)


@kernel
def _empty_cell(grid: Cards, number: int) -> int:
    """The empty cell with `number` empty ones before it."""
    for cell in range(NUM_CELLS):
        if grid[cell] < 0:
            if number == 0:
                return cell
            number -= 1
    return -1


@kernel
def _keep_patterns(lines: Counts, turn: int, by_rank: Counts, by_suit: Counts, patterns: Counts) -> None:
    for line in range(NUM_LINES):
        contents = (lines[line, 0], lines[line, 1], lines[line, 2], lines[line, 3], lines[line, 4])
        patterns[line] = line_pattern(0 if line < SIDE else 1, turn, contents, by_rank, by_suit)


@kernel
def _learn(path: Counts, values: Floats, seen: Counts, least_rate: float) -> None:
    """Move the afterstates of a game [25, 10] towards their λ-returns."""
    later = 0.0
    for pattern in path[NUM_CELLS - 1]:
        later += values[pattern]  # of the full grid: its score
    target = later
    for turn in range(NUM_CELLS - 2, -1, -1):
        target = TD_LAMBDA * target + (1 - TD_LAMBDA) * later
        value = 0.0
        for pattern in path[turn]:
            value += values[pattern]
        for pattern in path[turn]:
            if pattern < NUM_OPEN:
                seen[pattern] += 1
                values[pattern] += max(least_rate, FIRST_RATE / np.sqrt(seen[pattern])) * (target - value)
        later = value
