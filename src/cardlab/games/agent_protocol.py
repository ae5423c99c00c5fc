"""The protocols Agent, Policy and ActionValues. Agents see InfoStates only."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from cardlab.core.messages import InvalidOption
from cardlab.games.protocol import Actions, Floats, InfoStates, Players


@runtime_checkable
class Agent(Protocol):
    """Chooses actions in parallel games. Agents are stateless: the InfoStates hold all that they know."""

    def act(self, info_states: InfoStates, players: Players, rng: np.random.Generator) -> Actions:
        """[N] legal actions for `players` [N], each the current player of its row."""
        ...


@runtime_checkable
class Policy(Agent, Protocol):
    """An agent with action probabilities and state values."""

    def evaluate(self, info_states: InfoStates, players: Players) -> tuple[Floats, Floats]:
        """Log-probabilities [N, A] (minus infinity where illegal) and values [N] (expected further payoff)."""
        ...


@runtime_checkable
class ActionValues(Protocol):
    """An agent that estimates the value of every action."""

    def action_values(self, info_states: InfoStates, players: Players) -> Floats:
        """[N, A] expected further payoff after each action; minus infinity where illegal."""
        ...


def check_callable(key: str, function: Any, arguments: Sequence[str], **named: Any) -> None:
    """Raise InvalidOption unless `function` can be called with these positional and `named` arguments."""
    wanted = ", ".join([*arguments, *(f"{name}=…" for name in named)])
    if not callable(function):
        raise InvalidOption(key, type(function).__name__, f"a function of ({wanted})")
    try:
        signature = inspect.signature(function)
    except ValueError:  # some functions of C have none
        return
    try:
        signature.bind(*arguments, **named)
    except TypeError as error:
        raise InvalidOption(key, f"a function of {signature}", f"a function of ({wanted})") from error


def agent_text(name: str, options: Mapping[str, Any]) -> str:
    """The text of the agent `name` with `options`: `threshold:level:30`, a value that is such a text in brackets."""
    return ":".join([name, *(f"{key}:{_value_text(value)}" for key, value in options.items())])


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"[{value}]" if isinstance(value, str) and ":" in value else str(value)
