"""Poker Squares by name: the seed's `tree_search` and the naive `flush`; and `tables`, which learns when it is made."""

from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.heuristics.pattern_learning import learn_table
from cardlab.core.kernels import kernel
from cardlab.core.options import check_choice, check_range
from cardlab.games.cards.deck import NUM_SUITS, Cards
from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.poker_squares.patterns import cell_values, transposed_values
from cardlab.games.poker_squares.rules import NUM_CELLS, SIDE, Records
from cardlab.games.protocol import Actions, Floats, Game, InfoStates, Players

SPARE_COLUMN = SIDE - 1  # takes what no column collects


@kernel
def collecting_column(grid: Cards, suit: int) -> int:
    """The column for a card of `suit`; -1 where there is no room.

    That is the one which holds nothing else, or the first empty one if there is no such column yet.
    """
    empty = -1
    for column in range(NUM_SUITS - 1, -1, -1):
        held = pure = 0
        for row in range(SIDE):
            card = int(grid[SIDE * row + column])
            if card >= 0:
                held += 1
                pure += 1 if card & 3 == suit else 0
        if held == 0:
            empty = column
        elif pure == held:
            return column if held < SIDE else -1
    return empty


@kernel
def choose_for_flushes(
    states: Records, uniforms: NDArray[np.float32], match_spare: bool, match_suited: bool
) -> Actions:
    """[N] cells; among equals the choice is by `uniforms` [N]. The flags: whether rows with the card's rank attract."""
    actions = np.zeros(states.shape[0], dtype=np.int16)
    worth = np.empty(NUM_CELLS, dtype=np.int64)
    for g in range(states.shape[0]):
        grid = states[g]["grid"]
        card = int(states[g]["deck"][states[g]["turn"]])
        target = collecting_column(grid, card & 3)
        matching = match_suited if target >= 0 else match_spare
        for cell in range(NUM_CELLS):
            worth[cell] = -1
            if grid[cell] < 0 and target in (-1, cell % SIDE):
                worth[cell] = 1 if cell % SIDE == SPARE_COLUMN else 0
                for column in range(SIDE):
                    other = int(grid[cell - cell % SIDE + column])
                    if matching and other >= 0 and other >> 2 == card >> 2:
                        worth[cell] += 2
        best = worth.max()
        left = int(uniforms[g] * (worth == best).sum())
        for cell in range(NUM_CELLS):
            if worth[cell] == best:
                actions[g] = cell
                if left == 0:
                    break
                left -= 1
    return actions


@dataclass(frozen=True)
class FlushAgent:
    """Collects one suit in each of four columns; a card without room there goes to the fifth column, or anywhere.

    `ranks`: where it prefers rows that hold the card's rank: `ignored` (nowhere), `spare` (for cards without room),
    `always`. Equals are drawn at random. Source: the seed's "naive player hard-coded to go for flushes".
    """

    game: Game
    ranks: str = "ignored"

    def __post_init__(self) -> None:
        """Check the option."""
        check_choice("agent.ranks", self.ranks, ["ignored", "spare", "always"])

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] cells."""
        uniforms = rng.random(len(info_states), dtype=np.float32)
        return choose_for_flushes(info_states, uniforms, self.ranks != "ignored", self.ranks == "always")


@cache
def learned_table(scoring: str, custom_scores: tuple[int, ...], games: int, seed: int) -> Floats:
    """[patterns] the table of TablesAgent, learned once in a process."""
    return learn_table(PokerSquares(scoring=cast(Any, scoring), custom_scores=custom_scores).scores, games, seed)


@dataclass(frozen=True)
class TablesAgent:
    """Plays one step ahead by a table of values of patterns of lines, which it learns when it is made.

    `games` of its own, by TD(λ) in one kernel: seconds. The fastest player there is, for the playouts of searches. A
    learner keeps flushes to the rows or to the columns, as it happens; a search whose playouts are to go on as its
    policy would needs the tables that are like it, as learned or `transposed`.
    """

    game: PokerSquares
    games: int = 100_000
    seed: int = 0
    transposed: bool = False  # rows are valued as it learned of columns, and columns as of rows

    def __post_init__(self) -> None:
        """Check the options."""
        check_range("agent.games", self.games, 1, whole=True)
        check_range("agent.seed", self.seed, 0, whole=True)

    def pattern_values(self) -> Floats:
        """[patterns] expected points of a line."""
        values = learned_table(self.game.scoring, tuple(self.game.custom_scores), int(self.games), int(self.seed))
        return transposed_values(values) if self.transposed else values

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] cells, the first of the best."""
        return self.action_values(info_states, players).argmax(axis=1).astype(np.int16)

    def action_values(self, info_states: InfoStates, players: Players) -> Floats:
        """[N, 25] expected final score by each cell; minus infinity where it is taken."""
        return cell_values(info_states, self.pattern_values())

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, 25] of its sure choice, and the values of the best cells [N]."""
        values = self.action_values(info_states, players)
        chosen = np.arange(NUM_CELLS) == values.argmax(axis=1)[:, None]
        return np.where(chosen, np.float32(0), np.float32(-np.inf)), values.max(axis=1)
