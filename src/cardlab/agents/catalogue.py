"""Agents that need no training, by name: `random` and the searches for every game, and each game's scripted ones.

An agent is written as `name` or `name:key:value…`, e.g. `threshold:level:30`. A value that is itself such a text stands
in brackets: `monte_carlo:rollout:[threshold:level:30]`.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from inspect import Parameter, signature
from typing import Any, cast

from cardlab.agents.random import RandomAgent
from cardlab.games.protocol import Game
from cardlab.options import InvalidOption
from cardlab.playing.protocol import Agent

AgentFactory = Callable[..., Agent]


class InvalidAgent(InvalidOption):
    """An option in the text of an agent has a value that it cannot take; key and value are those of the option."""

    def __init__(self, text: str, key: str, value: object, allowed: str) -> None:
        super().__init__(key, value, allowed)
        self.text = text

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by its parts, as InvalidOption does."""
        return (type(self), (self.text, self.key, self.value, self.allowed))


SEARCHES = ("monte_carlo", "expectimax", "tree", "puct")


def agent_factories(game: Game) -> Mapping[str, AgentFactory]:
    """Name → factory(game, **options) of the agents that play `game` without training."""
    module = f"cardlab.agents.scripted.{game.spec.name}"
    scripted: Mapping[str, AgentFactory] = {}
    if find_spec(module) is not None:
        scripted = cast(Mapping[str, AgentFactory], import_module(module).AGENTS)
    searches = {name: partial(_make_search, name) for name in SEARCHES}
    return {"random": RandomAgent, **searches, "endgame": _make_endgame, **scripted}


def _make_search(name: str, game: Game, **options: Any) -> Agent:
    """Imported by name, so that nothing depends on searches but what uses them."""
    return cast(Agent, import_module("cardlab.agents.search").make_search(game, name, **options))


def _make_endgame(game: Game, **options: Any) -> Agent:
    return cast(Agent, import_module("cardlab.agents.endgames").make_endgame(game, **options))


def split_name(text: str) -> tuple[str, dict[str, Any]]:
    """`threshold:level:30` as ("threshold", {"level": 30}); InvalidOption when keys and values do not pair up."""
    name, *rest = _split(text)
    if len(rest) % 2:
        raise InvalidOption("agent", text, "name or name:key:value…")
    return name, {key: _parse(value) for key, value in zip(rest[::2], rest[1::2], strict=True)}


def agent_text(name: str, options: Mapping[str, Any]) -> str:
    """The text that `split_name` reads as `name` and `options`."""
    return ":".join([name, *(f"{key}:{_value_text(value)}" for key, value in options.items())])


def make_agent(game: Game, text: str, **options: Any) -> Agent:
    """The agent written as `text`, with `options` beside those in the text."""
    name, written = split_name(text)
    factories = agent_factories(game)
    if name not in factories:
        raise InvalidOption("agent", text, f"one of {', '.join(factories)} for {game.spec.name}")
    factory, given = factories[name], {**written, **options}
    _check_known(factory, text, name, given)
    try:
        return factory(game, **given)
    except TypeError as error:
        raise InvalidOption("agent", text, f"{name} with options and values that it can take") from error
    except InvalidOption as refusal:
        if refusal.key == "agent":  # another one that it names is none
            raise
        raise InvalidAgent(text, refusal.key, refusal.value, refusal.allowed) from refusal


def _check_known(factory: AgentFactory, text: str, name: str, given: Mapping[str, Any]) -> None:
    """InvalidOption for an option of which the factory knows nothing, unless it says so itself."""
    _, *parameters = signature(factory).parameters.values()  # behind the game
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return
    known = [parameter.name for parameter in parameters]
    if given.keys() - set(known):
        raise InvalidOption("agent", text, f"{name} with {'options ' + ', '.join(known) if known else 'no options'}")


def _split(text: str) -> Iterator[str]:
    """The parts of `text` between colons that stand in no bracket."""
    depth = start = 0
    for place, sign in enumerate(text):
        depth += (sign == "[") - (sign == "]")
        if sign == ":" and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{value}]" if isinstance(value, str) and ":" in value else str(value)


def _parse(text: str) -> bool | int | float | str:
    if text.startswith("[") and text.endswith("]"):
        return text[1:-1]
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
