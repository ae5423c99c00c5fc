"""Scripted agents of Poker Squares: `flush`, `tables` (learned when constructed) and the paper's `tree_search`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cardlab.agents.heuristics.poker_squares_patterns import learn_pattern_values
from cardlab.core.kernels import kernel
from cardlab.core.options import NUMERIC, Flag, Positive
from cardlab.games.cards.deck import NUM_SUITS, Cards
from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.poker_squares.patterns import cell_values, transpose_values
from cardlab.games.poker_squares.rules import NUM_CELLS, SIDE, Records
from cardlab.games.protocol import Actions, Floats, Game, InfoStates, Players, States

OVERFLOW_COLUMN = SIDE - 1  # for cards that no column collects


@kernel
def flush_column(grid: Cards, suit: int) -> int:
    """Column for a card of `suit`: the one of that suit only, else the first empty one; -1 if neither has room."""
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
def choose_flush_cells(
    states: Records, uniforms: NDArray[np.float32], match_spare: bool, match_suited: bool
) -> Actions:
    """[N] cells; ties are broken by `uniforms` [N]. The flags turn on the preference for rows with the card's rank."""
    actions = np.zeros(states.shape[0], dtype=np.int16)
    priority = np.empty(NUM_CELLS, dtype=np.int64)
    for g in range(states.shape[0]):
        grid = states[g]["grid"]
        card = int(states[g]["deck"][states[g]["turn"]])
        target = flush_column(grid, card & 3)
        matching = match_suited if target >= 0 else match_spare
        for cell in range(NUM_CELLS):
            priority[cell] = -1
            if grid[cell] < 0 and target in (-1, cell % SIDE):
                priority[cell] = 1 if cell % SIDE == OVERFLOW_COLUMN else 0
                for column in range(SIDE):
                    other = int(grid[cell - cell % SIDE + column])
                    if matching and other >= 0 and other >> 2 == card >> 2:
                        priority[cell] += 2
        best = priority.max()
        left = int(uniforms[g] * (priority == best).sum())
        for cell in range(NUM_CELLS):
            if priority[cell] == best:
                actions[g] = cell
                if left == 0:
                    break
                left -= 1
    return actions


@dataclass(frozen=True)
class FlushAgent:
    """Collects one suit in each of four columns; other cards go to the fifth column, or to any empty cell.

    `ranks` sets when it prefers rows with the card's rank: `ignored` (never), `spare` (cards without a flush column) or
    `always`. Ties are broken at random. Source: the paper's "naive player hard-coded to go for flushes".
    """

    game: Game
    ranks: Literal["ignored", "spare", "always"] = "ignored"

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] cells."""
        uniforms = rng.random(len(info_states), dtype=np.float32)
        return choose_flush_cells(info_states, uniforms, self.ranks != "ignored", self.ranks == "always")


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
