"""The player of the Poker Squares paper: Monte Carlo search with a learned policy, under a clock."""

from typing import Any

from cardlab.agents.search.builders import Resolve
from cardlab.agents.search_agent import make_monte_carlo
from cardlab.core.options import check_range
from cardlab.games.agent_protocol import Agent
from cardlab.games.poker_squares.rules import NUM_CELLS
from cardlab.games.protocol import Game

SECONDS_IN_HAND = 0.5  # per game
NUM_CHOICES = NUM_CELLS - 1  # the last card has one cell left


def tree_search(
    game: Game, policy: str = "champion", game_seconds: float = 30.0, *, resolve: Resolve, **options: Any
) -> Agent:
    """The seed's player: a learned policy's playouts in equal time for each placement, mixed with its raw estimates.

    A move is scored 0.2 · raw + 0.8 · mean of its playouts; half a second of `game_seconds` is kept in hand. What the
    seed's author wished for are `options` of search=monte_carlo: `endgame` (exact), `leaf:value` with a `depth`,
    `simulations` in the place of time, records of what was done, and `learn`, online learning from the search. Two
    `threads` unless they are given.
    """
    check_range("agent.game_seconds", game_seconds, SECONDS_IN_HAND, open_low=True)
    if "simulations" not in options:
        options.setdefault("seconds", (game_seconds - SECONDS_IN_HAND) / NUM_CHOICES)
    given = {"threads": 2, "raw_weight": 0.2, "policy": policy, **options}
    return make_monte_carlo(game, resolve=resolve, **given)
