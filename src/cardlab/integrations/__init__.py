"""The games for other libraries, and other libraries' policies for the arena.

    env = cardlab.integrations.make_aec("big2")                          # PettingZoo, every seat
    env = cardlab.integrations.make_env("poker_squares")                 # Gymnasium, one seat
    envs = cardlab.integrations.make_vector("five_o", 1024, ["greedy"])  # Gymnasium, a thousand tables a call
    envs = cardlab.integrations.make_sb3("five_o", 64, ["greedy"])       # Stable-Baselines3, with masks
    agent = cardlab.integrations.as_agent(game, function)                # the other way

Each name is imported on first use. Without the extra `cardlab[integrations]` this raises MissingExtra, in one line.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cardlab.integrations.missing_extra import MissingExtra

if TYPE_CHECKING:
    from cardlab.integrations.external_policies import as_agent, sb3_agent
    from cardlab.integrations.gymnasium_env import make_env
    from cardlab.integrations.gymnasium_registry import register_games
    from cardlab.integrations.gymnasium_vector import make_vector
    from cardlab.integrations.parallel_games import Tables, Turn
    from cardlab.integrations.pettingzoo_aec import make_aec
    from cardlab.integrations.stable_baselines3 import make_sb3

__all__ = [
    "MissingExtra",
    "Tables",
    "Turn",
    "as_agent",
    "make_aec",
    "make_env",
    "make_sb3",
    "make_vector",
    "register_games",
    "sb3_agent",
]

_HOMES = {
    "Tables": ("parallel_games", ""),
    "Turn": ("parallel_games", ""),
    "as_agent": ("external_policies", ""),
    "make_aec": ("pettingzoo_aec", "pettingzoo"),
    "make_env": ("gymnasium_env", "gymnasium"),
    "make_sb3": ("stable_baselines3", "stable_baselines3"),
    "make_vector": ("gymnasium_vector", "gymnasium"),
    "register_games": ("gymnasium_registry", "gymnasium"),
    "sb3_agent": ("external_policies", ""),
}
"""Name → its module here, and the library that this module imports."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, library = _HOMES[name]
    try:
        home = import_module(f"cardlab.integrations.{module}")
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if not library or missing not in (library, "gymnasium"):
            raise
        raise MissingExtra(f"cardlab.integrations.{name}", missing) from None
    value = getattr(home, name)
    globals()[name] = value  # the next look-up goes straight to it
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
