"""Values by key of the configuration: set in a copy of it, and read from a nested search space."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, cast

_BOUNDS = {"low", "high", "choices"}


def flat_space(space: Mapping[str, Any]) -> dict[str, Any]:
    """Nested `sweep.space` as key of the configuration → entry: a mapping with low and high, or a list of choices."""
    return dict(_entries(space, ""))


def with_values(config: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `config` in which each key of `values`, e.g. "agent.gamma", has its value."""
    changed = deepcopy(dict(config))
    for key, value in values.items():
        *path, last = key.split(".")
        node = changed
        for name in path:
            node = node[name]
        node[last] = value
    return changed


def _entries(node: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in node.items():
        if isinstance(value, Mapping) and not _BOUNDS & set(cast(Mapping[str, Any], value)):
            yield from _entries(cast(Mapping[str, Any], value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
