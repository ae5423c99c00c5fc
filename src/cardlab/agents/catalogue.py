"""Agents that need no training, by name: `random` for every game, and each game's scripted ones.

An agent is written as `name` or `name:key:value…`, e.g. `threshold:level:30`.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

from cardlab.agents.random import RandomAgent
from cardlab.games.protocol import Game
from cardlab.options import InvalidOption
from cardlab.playing.protocol import Agent

AgentFactory = Callable[..., Agent]


def agent_factories(game: Game) -> Mapping[str, AgentFactory]:
    """Name → factory(game, **options) of the agents that play `game` without training."""
    module = f"cardlab.agents.scripted.{game.spec.name}"
    scripted: Mapping[str, AgentFactory] = {}
    if find_spec(module) is not None:
        scripted = cast(Mapping[str, AgentFactory], import_module(module).AGENTS)
    return {"random": RandomAgent, **scripted}


def split_name(text: str) -> tuple[str, dict[str, Any]]:
    """`threshold:level:30` as ("threshold", {"level": 30}); InvalidOption when keys and values do not pair up."""
    name, *rest = text.split(":")
    if len(rest) % 2:
        raise InvalidOption("agent", text, "name or name:key:value…")
    return name, {key: _parse(value) for key, value in zip(rest[::2], rest[1::2], strict=True)}


def make_agent(game: Game, text: str, **options: Any) -> Agent:
    """The agent written as `text`, with `options` beside those in the text."""
    name, written = split_name(text)
    factories = agent_factories(game)
    if name not in factories:
        raise InvalidOption("agent", text, f"one of {', '.join(factories)} for {game.spec.name}")
    try:
        return factories[name](game, **written, **options)
    except TypeError as error:
        raise InvalidOption("agent", text, f"an agent with options that it knows ({error})") from error


def _parse(text: str) -> bool | int | float | str:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
