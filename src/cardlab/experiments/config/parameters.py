"""Parameters of several experiments: those that differ, and those that all have in common."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

Rows = list[tuple[str, list[str]]]
"""A key, and its value in each experiment."""


def compare_parameters(configs: Sequence[Mapping[str, Any]]) -> tuple[Rows, Rows]:
    """(differing, common) parameters; keys that all experiments have come first, a missing one has the value ""."""
    leaves = [dict(_leaves({key: value for key, value in config.items() if key != "name"})) for config in configs]
    keys = sorted({key for each in leaves for key in each})
    rows = [(key, [each.get(key, "") for each in leaves]) for key in keys]
    differing = [row for row in rows if len(set(row[1])) > 1]
    return sorted(differing, key=lambda row: "" in row[1]), [row for row in rows if len(set(row[1])) == 1]


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """(key, value) of all leaves, nested keys joined by dots."""
    if isinstance(value, Mapping):
        for name, inner in cast(Mapping[str, object], value).items():
            yield from _leaves(inner, f"{key}.{name}" if key else name)
    else:
        yield key, "–" if value is None else str(value)
