"""Values by key of the configuration: set in a copy, read from a search space, compared between experiments."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, cast

from cardlab.tracking.parameters import leaf_texts

_BOUNDS = {"low", "high", "choices"}
_ENTRY = {*_BOUNDS, "log", "step", "when"}

Rows = list[tuple[str, list[str]]]
"""A key, and its value in each experiment."""


def compare_parameters(configs: Sequence[Mapping[str, Any]]) -> tuple[Rows, Rows]:
    """(differing, common) parameters; keys that all experiments have come first, a missing one has the value ""."""
    leaves = [dict(leaf_texts({key: value for key, value in config.items() if key != "name"})) for config in configs]
    keys = sorted({key for each in leaves for key in each})
    rows = [(key, [each.get(key, "") for each in leaves]) for key in keys]
    differing = [row for row in rows if len(set(row[1])) > 1]
    return sorted(differing, key=lambda row: "" in row[1]), [row for row in rows if len(set(row[1])) == 1]


def flat_space(space: Mapping[str, Any]) -> dict[str, Any]:
    """Nested `sweep.space` as key of the configuration → entry: a mapping with low and high, or a list of choices.

    Entries beside `choices` are for keys of that group, or of one of its options, as `agent.dqn.gamma`.
    """
    return dict(_entries(space, ""))


def with_values(config: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `config` where each key of `values`, as "agent.gamma", has its value: of a GroupOption the content."""
    changed = deepcopy(dict(config))
    for key, value in values.items():
        *path, last = key.split(".")
        node = changed
        for name in path:
            node = node[name]
        node[last] = deepcopy(getattr(value, "content", value))
    return changed


def _entries(node: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in node.items():
        inner = cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}
        if not inner or _BOUNDS & set(inner):
            beside = {key: part for key, part in inner.items() if key not in _ENTRY and "choices" in inner}
            yield f"{prefix}{name}", {key: inner[key] for key in inner if key not in beside} if beside else value
            inner = beside
        yield from _entries(inner, f"{prefix}{name}.")
