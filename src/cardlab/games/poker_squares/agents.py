"""Scripted agents of Poker Squares: `flush` and the paper's `tree_search`; pattern_learning.py has another."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from cardlab.core.kernels import kernel
from cardlab.core.options import NUMERIC
from cardlab.games.agent_protocol import agent_text
from cardlab.games.cards.deck import NUM_SUITS, Cards
from cardlab.games.poker_squares.rules import NUM_CELLS, SIDE, Records
from cardlab.games.protocol import Actions, Game, InfoStates, Players

RESERVE_SECONDS = 0.5  # per game, not used
NUM_CHOICES = NUM_CELLS - 1  # the last card is a forced move
NUM_CELL_CHOICES = sum(range(2, NUM_CELLS + 1))  # free cells of all choices together
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


_Seconds = Annotated[float, Field(gt=RESERVE_SECONDS, allow_inf_nan=False), NUMERIC]


def tree_search(game: Game, policy: str = "champion", game_seconds: _Seconds = 30.0, **options: Any) -> str:  # noqa: ARG001
    """The text of the paper's player: Monte Carlo playouts of a learned policy, with equal time per placement.

    A move scores 0.2 · raw estimate + 0.8 · mean of its playouts; RESERVE_SECONDS of `game_seconds` stay unused.
    `options` are those of search=monte_carlo, such as `endgame`, `leaf:value` with `depth`, `simulations` instead of
    time, `per_action` (more time where more cells are free), `raw_playouts` in place of the weights, and `learn`
    (online learning from the search). `threads` is 2 by default.
    """
    if "simulations" not in options:
        shares = NUM_CELL_CHOICES if options.get("per_action") else NUM_CHOICES
        options.setdefault("seconds", (game_seconds - RESERVE_SECONDS) / shares)
    raw_weight = 0.0 if options.get("raw_playouts") else 0.2
    return agent_text("monte_carlo", {"threads": 2, "raw_weight": raw_weight, "policy": policy, **options})
