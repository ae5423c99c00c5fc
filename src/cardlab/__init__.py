"""Train, tune, track and compare agents for five card games.

    game = cardlab.make_game("thirty_one", num_players=3)
    agent = cardlab.load_agent(game, "threshold:level:30")
    match = cardlab.play_match(game, [agent, "random", "random"], num_deals=1000, seed=0)

The names below are imported when first used: a game needs no torch, and `import cardlab` costs nothing.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cardlab.agents.specs import PolicyStore, use_policy_store

if TYPE_CHECKING:
    from cardlab.agents.registry import load_agent
    from cardlab.cli.functions import compare, evaluate, sweep, tournament, train
    from cardlab.core.messages import InvalidOption
    from cardlab.evaluation.match import Match, play_match
    from cardlab.games.agent_protocol import Agent, Policy
    from cardlab.games.make_game import game_names, make_game
    from cardlab.games.protocol import Game

    __version__: str

NOT_IN_DIGEST = "has names for users, a hook for stores and a setting of memory"

# Read by torch when it makes its first tensor: large ones lie on large pages, and training is a tenth faster.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")


def _open_policy_store() -> PolicyStore:
    from cardlab.tracking import Store  # noqa: PLC0415  needed for addresses only
    from cardlab.tracking.registry import Registry  # noqa: PLC0415

    return Registry(Store())


use_policy_store(_open_policy_store)

__all__ = [
    "Agent",
    "Game",
    "InvalidOption",
    "Match",
    "Policy",
    "__version__",
    "compare",
    "evaluate",
    "game_names",
    "load_agent",
    "make_game",
    "play_match",
    "sweep",
    "tournament",
    "train",
]

_HOMES = {
    "cardlab.agents.registry": ("load_agent",),
    "cardlab.cli.functions": ("compare", "evaluate", "sweep", "tournament", "train"),
    "cardlab.core.messages": ("InvalidOption",),
    "cardlab.evaluation.match": ("Match", "play_match"),
    "cardlab.games.agent_protocol": ("Agent", "Policy"),
    "cardlab.games.make_game": ("game_names", "make_game"),
    "cardlab.games.protocol": ("Game",),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("cardlab")
    for home, names in _HOMES.items():
        if name in names:
            globals()[name] = getattr(import_module(home), name)  # the next look-up goes straight to it
            return globals()[name]
    raise AttributeError(f"module 'cardlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
