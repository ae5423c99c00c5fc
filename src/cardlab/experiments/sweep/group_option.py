"""One option of a group as the value of a trial, and the entries of a space that are for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cardlab.core.messages import InvalidOption

MIN_CHOICES = 2
ABSENT = ...
"""What `value_at` returns for a key that is not there."""


@dataclass(frozen=True)
class GroupOption:
    """A value for a whole group: the name of one of its options, and its content."""

    name: str
    content: Mapping[str, Any]

    def __str__(self) -> str:
        return self.name


def chosen_options(entries: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Group → name → content of the options that a trial may choose."""
    return {
        key: entry["choices"]
        for key, entry in entries.items()
        if "." not in key and isinstance(entry, Mapping) and isinstance(entry.get("choices"), Mapping)
    }


def value_at(config: Mapping[str, Any], key: str) -> Any:
    """The value at `key`, e.g. "agent.gamma", or ABSENT."""
    node: Any = config
    for name in key.split("."):
        node = node[name] if isinstance(node, Mapping) and name in node else ABSENT
    return node


def option_key(param: str, options: Mapping[str, Mapping[str, Any]]) -> tuple[str, str, str]:
    """Group, key and option of the entry `agent.dqn.gamma`; of another, its group, itself and "".

    `options`: group → name → content. An option may have entries for other groups: agent.dqn.network.widths.
    """
    group, _, rest = param.partition(".")
    option, _, inner = rest.partition(".")
    if not inner or option not in options.get(group, {}):
        return group, param, ""
    return group, inner if value_at(options[group][option], inner) is ABSENT else f"{group}.{inner}", option


def invalid_entry(param: str, entry: object, allowed: str) -> InvalidOption:
    """The error for an entry of a search space."""
    return InvalidOption(f"sweep.space.{param}", entry, allowed)
