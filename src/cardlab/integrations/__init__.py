"""Environments of other libraries, and policies of other libraries as agents.

    env = cardlab.integrations.make_aec("big2")                          # PettingZoo, all seats
    env = cardlab.integrations.make_env("poker_squares")                 # Gymnasium, one seat
    envs = cardlab.integrations.make_vector("five_o", 1024, ["greedy"])  # Gymnasium, one seat of 1,024 games
    envs = cardlab.integrations.make_sb3("five_o", 64, ["greedy"])       # Stable-Baselines3, with action masks
    agent = cardlab.integrations.as_agent(game, function)                # a policy function as an agent

Each name is imported on first use. Without the extra `cardlab[integrations]` most names raise MissingExtra.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardlab.integrations.external_policies import as_agent, sb3_agent
    from cardlab.integrations.gymnasium_envs import make_env, make_vector, register_games
    from cardlab.integrations.parallel_games import ParallelGames, StepResult
    from cardlab.integrations.pettingzoo_aec import make_aec
    from cardlab.integrations.stable_baselines3 import make_sb3

__all__ = [
    "MissingExtra",
    "ParallelGames",
    "StepResult",
    "as_agent",
    "make_aec",
    "make_env",
    "make_sb3",
    "make_vector",
    "register_games",
    "sb3_agent",
]

_HOMES = {
    "external_policies": ("as_agent", "sb3_agent"),
    "gymnasium_envs": ("make_env", "make_vector", "register_games"),
    "parallel_games": ("ParallelGames", "StepResult"),
    "pettingzoo_aec": ("make_aec",),
    "stable_baselines3": ("make_sb3",),
}
_LIBRARIES = ("gymnasium", "pettingzoo", "stable_baselines3")


class MissingExtra(ImportError):
    """A library of `cardlab[integrations]` is not installed; the message is one line that says what to install."""


def __getattr__(name: str) -> Any:
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f"{__name__}.{home}")
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in _LIBRARIES:
            raise
        text = f"{__name__}.{name}: needs {missing}; pip install 'cardlab[integrations]'"
        raise MissingExtra(text) from None
    globals()[name] = getattr(module, name)  # the next access does not call this function
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
