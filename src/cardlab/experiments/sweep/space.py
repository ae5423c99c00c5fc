"""The search space: entries of conf/sweep/ as dimensions that Optuna can sample."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optuna import Trial, TrialPruned
from optuna.distributions import BaseDistribution, CategoricalDistribution
from optuna.trial import FrozenTrial

from cardlab.core.options import InvalidOption
from cardlab.experiments.sweep.dimensions import Dimension, parse_dimension

LARGEST_GRID = 10_000
Values = dict[str, Any]
"""Key of the configuration → value."""


@dataclass(frozen=True)
class Space:
    """Dimensions in an order in which each stands behind those that its condition names."""

    dimensions: tuple[Dimension, ...]
    config: Mapping[str, Any]
    """The configuration that is searched around: it decides conditions on keys that are not searched."""

    @classmethod
    def parse(cls, entries: Mapping[str, Any], config: Mapping[str, Any]) -> "Space":
        """The space of `entries`: key → {low, high, log, step, when}, {choices, when} or a list of choices.

        InvalidOption under sweep.space.KEY for an entry that is none of these, or whose condition names no key.
        """
        dimensions = [parse_dimension(key, entry, lookup(config, key)) for key, entry in entries.items()]
        for dimension in dimensions:
            for key in dimension.when:
                if not _has(config, key):
                    raise InvalidOption(f"sweep.space.{dimension.key}.when.{key}", "…", "a key of the configuration")
        return cls(tuple(_in_order(dimensions)), config)

    def suggest(self, trial: Trial) -> Values:
        """The values of a trial; a dimension whose condition does not hold has none."""
        values: Values = {}
        for dimension in self.dimensions:
            if self._is_active(dimension, values):
                values[dimension.key] = dimension.suggest(trial)
        return values

    def decode(self, params: Mapping[str, Any]) -> Values:
        """The values behind Optuna's parameters, in which a choice that is no scalar is a text."""
        known = {dimension.key: dimension for dimension in self.dimensions}
        return {key: known[key].decode(value) if key in known else value for key, value in params.items()}

    def baseline(self) -> dict[str, Any]:
        """Optuna's parameters of the configuration itself, as far as they lie within the space."""
        params: dict[str, Any] = {}
        values: Values = {}
        for dimension in self.dimensions:
            value = lookup(self.config, dimension.key)
            if self._is_active(dimension, values) and dimension.contains(value):
                params[dimension.key] = dimension.encode(value)
                values[dimension.key] = value
        return params

    def check_enqueued(self, trial: FrozenTrial) -> None:
        """TrialPruned for a trial that was enqueued with parameters outside the space."""
        known = {dimension.key: dimension for dimension in self.dimensions}
        params: Mapping[str, Any] = trial.system_attrs.get("fixed_params", {})
        for key, param in params.items():
            if key not in known:
                raise TrialPruned(f"enqueued with {key}={param}: the space has no such key")
            value = known[key].decode(param)
            if not known[key].contains(value) or known[key].encode(value) != param:
                raise TrialPruned(f"enqueued with {key}={param}: must be within {known[key].text}")

    def grid(self) -> list[dict[str, Any]]:
        """Optuna's parameters of every point; InvalidOption for a range without a step, or above LARGEST_GRID."""
        points: list[dict[str, Any]] = [{}]
        for dimension in self.dimensions:
            params = dimension.grid()
            larger: list[dict[str, Any]] = []
            for point in points:
                active = self._is_active(dimension, self.decode(point))
                larger += [{**point, dimension.key: value} for value in params] if active else [point]
            points = larger
            if len(points) > LARGEST_GRID:
                raise InvalidOption(
                    "sweep.sampler", "grid", f"another: this grid has more than {LARGEST_GRID:,} points"
                )
        return points

    def extremes(self) -> Iterator[tuple[Dimension, Values]]:
        """Each end and each choice of each dimension, one at a time, with what its condition asks for."""
        for dimension in self.dimensions:
            required = {key: allowed[0] for key, allowed in dimension.when.items()}
            for value in dimension.ends():
                yield dimension, {**required, dimension.key: value}

    def check_history(self, history: Sequence[Mapping[str, BaseDistribution]], study: str) -> None:
        """InvalidOption where the distributions of earlier trials do not go together with this space."""
        for dimension in self.dimensions:
            for earlier in history:
                old = earlier.get(dimension.key)
                if old is not None and not _go_together(old, dimension.distribution):
                    entry = f"sweep.space.{dimension.key}"
                    allowed = f"of the kind, scale and choices that the study {study} began with; or name another study"
                    raise InvalidOption(entry, dimension.text, allowed)

    def _is_active(self, dimension: Dimension, values: Values) -> bool:
        def value_of(key: str) -> object:
            return values[key] if key in values else lookup(self.config, key)

        return all(value_of(key) in allowed for key, allowed in dimension.when.items())


def lookup(config: Mapping[str, Any], key: str) -> Any:
    """The value at `key`, e.g. "agent.gamma"; KeyError when there is none."""
    node: Any = config
    for name in key.split("."):
        node = node[name]
    return node


def _has(config: Mapping[str, Any], key: str) -> bool:
    try:
        lookup(config, key)
    except (KeyError, TypeError):
        return False
    return True


def _go_together(old: BaseDistribution, new: BaseDistribution) -> bool:
    """Optuna keeps one kind, one scale and one list of choices for a parameter throughout a study."""
    if isinstance(old, CategoricalDistribution) or isinstance(new, CategoricalDistribution):
        return old == new
    return type(old) is type(new) and getattr(old, "log", None) == getattr(new, "log", None)


def _in_order(dimensions: Sequence[Dimension]) -> list[Dimension]:
    """Each behind those that its condition names; InvalidOption for conditions that go round in a circle."""
    waiting = list(dimensions)
    ordered: list[Dimension] = []
    while waiting:
        names = {dimension.key for dimension in waiting}
        ready = [dimension for dimension in waiting if not names & set(dimension.when)]
        if not ready:
            first = waiting[0]
            raise InvalidOption(f"sweep.space.{first.key}.when", first.text, "a condition that does not rest on itself")
        ordered += ready
        waiting = [dimension for dimension in waiting if dimension not in ready]
    return ordered
