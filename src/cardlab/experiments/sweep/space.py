"""The search space: entries of conf/sweep/ as dimensions that Optuna can sample."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from optuna import Trial, TrialPruned
from optuna.distributions import BaseDistribution, FloatDistribution, check_distribution_compatibility
from optuna.trial import FrozenTrial

from cardlab.core.messages import InvalidOption, unknown_key
from cardlab.experiments.sweep.dimensions import Dimension, parse_dimension
from cardlab.tracking.parameters import flatten

MAX_GRID_POINTS = 10_000
Values = dict[str, Any]
"""Key of the configuration → value."""


@dataclass(frozen=True)
class Space:
    """Dimensions, each after those that its condition names."""

    dimensions: tuple[Dimension, ...]
    config: Mapping[str, Any]
    """The configuration of the experiment: it decides conditions on keys that are not searched."""

    @classmethod
    def parse(cls, entries: Mapping[str, Any], config: Mapping[str, Any]) -> "Space":
        """The space of `entries`: key → {low, high, log, step, when}, {choices, when} or a list of choices.

        InvalidOption under sweep.space.KEY for an entry that is none of these, or whose condition names no key.
        """
        dimensions = [parse_dimension(key, entry, lookup(config, key)) for key, entry in entries.items()]
        ordered = _sorted(dimensions)
        known = {dimension.key: dimension for dimension in ordered}
        for dimension in ordered:
            for key, allowed in dimension.when.items():
                _check_condition(f"sweep.space.{dimension.key}.when.{key}", key, allowed, known, config)
        return cls(tuple(ordered), config)

    def suggest(self, trial: Trial) -> Values:
        """The values of a trial; a dimension whose condition does not hold has none."""
        values: Values = {}
        for dimension in self.dimensions:
            if self._is_active(dimension, values):
                values[dimension.key] = dimension.suggest(trial)
        return values

    def decode(self, params: Mapping[str, Any]) -> Values:
        """The values of Optuna's parameters."""
        known = {dimension.key: dimension for dimension in self.dimensions}
        return {key: known[key].decode(value) if key in known else value for key, value in params.items()}

    def baseline(self) -> dict[str, Any]:
        """Optuna's parameters of the configuration itself, as far as they lie in the space."""
        params: dict[str, Any] = {}
        for dimension in self.dimensions:
            param = dimension.encode(lookup(self.config, dimension.key))
            if self._is_active(dimension, self.decode(params)) and dimension.accepts(param):
                params[dimension.key] = param
        return params

    def check_enqueued(self, trial: FrozenTrial) -> None:
        """Raise TrialPruned for a trial that was enqueued with parameters outside the space."""
        known = {dimension.key: dimension for dimension in self.dimensions}
        params: Mapping[str, Any] = trial.system_attrs.get("fixed_params", {})
        for key, param in params.items():
            if key not in known:
                raise TrialPruned(f"enqueued with {key}={param}: the space has no such key")
            if not known[key].accepts(param):
                raise TrialPruned(f"enqueued with {key}={param}: must be within {known[key].text}")

    def grid(self) -> list[dict[str, Any]]:
        """Optuna's parameters of every point; InvalidOption for a range without a step, or above MAX_GRID_POINTS."""
        points: list[dict[str, Any]] = [{}]
        for dimension in self.dimensions:
            params = dimension.grid()
            larger: list[dict[str, Any]] = []
            for point in points:
                active = self._is_active(dimension, self.decode(point))
                larger += [{**point, dimension.key: value} for value in params] if active else [point]
            points = larger
            if len(points) > MAX_GRID_POINTS:
                allowed = f"another: this grid has more than {MAX_GRID_POINTS:,} points"
                raise InvalidOption("sweep.sampler", "grid", allowed)
        return points

    def extremes(self) -> Iterator[tuple[Dimension, Values]]:
        """Each end and each choice of each dimension, with values that meet its condition."""
        for dimension in self.dimensions:
            required = {key: allowed[0] for key, allowed in dimension.when.items()}
            for value in dimension.extremes():
                yield dimension, {**required, dimension.key: value}

    def check_history(self, history: Sequence[Mapping[str, BaseDistribution]], study: str) -> None:
        """Raise InvalidOption where the distributions of earlier trials are incompatible with this space."""
        for dimension in self.dimensions:
            for earlier in history:
                old = earlier.get(dimension.key)
                try:
                    check_distribution_compatibility(old or dimension.distribution, dimension.distribution)
                except ValueError as error:
                    allowed = f"of the kind, scale and choices that the study {study} has; or name another study"
                    raise InvalidOption(f"sweep.space.{dimension.key}", dimension.text, allowed) from error

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


def values_text(values: Mapping[str, Any]) -> str:
    """`agent.gamma=0.99 agent.epsilon=0.05`."""
    return " ".join(f"{key}={short(value)}" for key, value in values.items())


def short(value: object) -> str:
    """A value with four digits, if it is a fraction."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _check_condition(
    place: str, key: str, allowed: Sequence[Any], known: Mapping[str, Dimension], config: Mapping[str, Any]
) -> None:
    """Raise InvalidOption under `place` for a condition on a missing key, or on values that the space never has."""
    try:
        lookup(config, key)
    except (KeyError, TypeError):
        beside = [f"{place.removesuffix(key)}{name}" for name in flatten(config)]
        raise unknown_key(place, list(allowed), beside) from None
    if key in known:
        searched = known[key]
        continuous = isinstance(searched.distribution, FloatDistribution) and searched.distribution.step is None
        if continuous or not any(searched.accepts(searched.encode(value)) for value in allowed):
            raise InvalidOption(place, list(allowed), f"choices of sweep.space.{key}={searched.text}")


def _sorted(dimensions: Sequence[Dimension]) -> list[Dimension]:
    """Each after those that its condition names; InvalidOption for conditions in a circle."""
    known = {dimension.key: dimension for dimension in dimensions}
    order = TopologicalSorter(dict.fromkeys(known, ()))
    for key, dimension in known.items():
        order.add(key, *(name for name in dimension.when if name in known))
    try:
        return [known[key] for key in order.static_order()]
    except CycleError as error:
        first = known[error.args[1][0]]
        allowed = "a condition that does not depend on itself"
        raise InvalidOption(f"sweep.space.{first.key}.when", first.text, allowed) from error
