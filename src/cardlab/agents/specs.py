"""Agents as texts: `name` or `name:key:value…`, e.g. `threshold:level:30`.

A value that is itself such a text is written in brackets: `monte_carlo:rollout:[threshold:level:30]`.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

from cardlab.agents.policy_paths import ADDRESSES, is_policy_folder
from cardlab.core.messages import InvalidOption

SEARCHES = ("monte_carlo", "expectimax", "tree", "puct")


class InvalidAgent(InvalidOption):
    """An option in the text of an agent has a value that it cannot take; key and value are those of the option."""

    def __init__(self, text: str, key: str, value: object, allowed: str) -> None:
        super().__init__(key, value, allowed)
        self.text = text

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by its parts, as InvalidOption does."""
        return (type(self), (self.text, self.key, self.value, self.allowed))


def split_name(text: str) -> tuple[str, dict[str, Any]]:
    """`threshold:level:30` as ("threshold", {"level": 30}), an address of a policy as it is without options.

    Raises InvalidOption when keys and values do not pair up.
    """
    if text.startswith(ADDRESSES):
        return text, {}
    name, *rest = _split(text)
    if len(rest) % 2:
        raise InvalidOption("agent", text, "name or name:key:value…")
    return name, {key: _parse(value) for key, value in zip(rest[::2], rest[1::2], strict=True)}


def name_and_options(text: str) -> tuple[str, dict[str, Any]]:
    """As `split_name`, but ("", {}) for the folder of a policy, and for a path that exists and holds colons."""
    is_path = is_policy_folder(text) or (":" in text and os.path.exists(text))
    return ("", {}) if is_path else split_name(text)


def is_searching(text: str) -> bool:
    """Whether the agent, or one that its options name, is a search."""
    name, _ = name_and_options(text)
    return name in SEARCHES or name.endswith("_search") or any(map(is_searching, _inner(text)))


def is_timed(text: str) -> bool:
    """Whether the agent, or one that its options name, has a time for each decision."""
    name, given = name_and_options(text)
    timed = bool({"seconds", "game_seconds"} & given.keys()) or (
        name.endswith("_search") and "simulations" not in given
    )
    return timed or any(map(is_timed, _inner(text)))


def is_learning(text: str) -> bool:
    """Whether the agent, or one that its options name, learns from its searches."""
    return bool(name_and_options(text)[1].get("learn")) or any(map(is_learning, _inner(text)))


def _inner(text: str) -> list[str]:
    """The agents with options that the options of an agent name."""
    return [value for value in name_and_options(text)[1].values() if isinstance(value, str) and ":" in value]


def _split(text: str) -> Iterator[str]:
    """The parts of `text` between colons outside brackets."""
    depth = start = 0
    for place, sign in enumerate(text):
        depth += (sign == "[") - (sign == "]")
        if sign == ":" and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


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


def metric_name(text: str) -> str:
    """An agent's text as part of a metric's name, without characters that MLflow refuses."""
    return re.sub(r"[^\w\-. /]", ".", text).strip("./")
