"""Values of configurations: set in a copy, compared, a flat search space; seeds, and keys that decide no training."""

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, cast

from cardlab.core.options import check_that, check_whole, invalid
from cardlab.training.options import TrainerOptions


def check_launcher(trainer: TrainerOptions) -> None:
    """Raise InvalidOption for `launcher=ray`, which only `cardlab train` can use."""
    if trainer.launcher != "processes":
        raise invalid(trainer, "launcher", "processes; only cardlab train uses ray")


RESUME, SEEDS, LIKE = "resume", "seeds", "like"
OWN_KEYS = (RESUME, SEEDS, LIKE, "tags", "note")
"""Keys of conf/train.yaml that decide no training: the experiment and its folder do not have them."""
MAX_SEEDS = 1000


def experiment_part(config: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration of one training in that of `cardlab train` or in an entry of params.yaml."""
    return {key: value for key, value in config.items() if key not in OWN_KEYS}


def parse_seeds(value: object, first: object) -> tuple[int, ...]:
    """The seeds of `seeds=3` (first, first + 1, first + 2) or `seeds=[1,2,3]`, sorted. Raises InvalidOption."""
    if not isinstance(value, list | tuple):
        number, start = check_whole(SEEDS, value, 1, MAX_SEEDS), check_whole("seed", first, 0, 2**63 - 1 - MAX_SEEDS)
        return tuple(range(start, start + number))
    seeds = tuple(check_whole(SEEDS, seed, 0, 2**63 - 1) for seed in cast(Sequence[object], value))
    different = seeds and len(set(seeds)) == len(seeds)
    check_that(different, SEEDS, value, "a number of seeds, or a list of different ones such as [1,2,3]")
    return tuple(sorted(seeds))


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


_BOUNDS = {"low", "high", "choices"}
_ENTRY = {*_BOUNDS, "log", "step", "when"}


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
