"""The player of the Poker Squares paper: Monte Carlo search with a learned policy, under a clock."""

from typing import Annotated, Any

from pydantic import Field

from cardlab.agents.search.builders import Resolve
from cardlab.agents.search_agent import make_monte_carlo
from cardlab.core.options import NUMERIC
from cardlab.games.agent_protocol import Agent
from cardlab.games.poker_squares.rules import NUM_CELLS
from cardlab.games.protocol import Game

RESERVE_SECONDS = 0.5  # per game, not used
NUM_CHOICES = NUM_CELLS - 1  # the last card is a forced move
NUM_CELL_CHOICES = sum(range(2, NUM_CELLS + 1))  # free cells of all choices together
_Seconds = Annotated[float, Field(gt=RESERVE_SECONDS, allow_inf_nan=False), NUMERIC]


def tree_search(
    game: Game, policy: str = "champion", game_seconds: _Seconds = 30.0, *, resolve: Resolve, **options: Any
) -> Agent:
    """The paper's player: Monte Carlo playouts of a learned policy, with equal time per placement.

    A move scores 0.2 · raw estimate + 0.8 · mean of its playouts; RESERVE_SECONDS of `game_seconds` stay unused.
    `options` are those of search=monte_carlo, such as `endgame`, `leaf:value` with `depth`, `simulations` instead of
    time, `per_action` (more time where more cells are free), `raw_playouts` in place of the weights, and `learn`
    (online learning from the search). `threads` is 2 by default.
    """
    if "simulations" not in options:
        shares = NUM_CELL_CHOICES if options.get("per_action") else NUM_CHOICES
        options.setdefault("seconds", (game_seconds - RESERVE_SECONDS) / shares)
    raw_weight = 0.0 if options.get("raw_playouts") else 0.2
    given = {"threads": 2, "raw_weight": raw_weight, "policy": policy, **options}
    return make_monte_carlo(game, resolve=resolve, **given)
