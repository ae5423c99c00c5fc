"""The scripted agent `tables` of Poker Squares, which learns its pattern values when constructed."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Annotated, Any, cast

import numpy as np
from pydantic import Field

from cardlab.core.options import NUMERIC, Flag, Positive
from cardlab.games.poker_squares.game import PokerSquares
from cardlab.games.poker_squares.pattern_learning import learn_pattern_values
from cardlab.games.poker_squares.patterns import cell_values, transpose_values
from cardlab.games.poker_squares.rules import NUM_CELLS
from cardlab.games.protocol import Actions, Floats, Game, InfoStates, Players, States


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
