"""The search space: entries of conf/sweep/ as dimensions that Optuna can sample."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, cast

from optuna import Trial, TrialPruned
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    check_distribution_compatibility,
)
from optuna.trial import FrozenTrial

from cardlab.core.messages import InvalidOption, unknown_key
from cardlab.tracking.parameters import flatten

_LARGEST = 2**63  # beyond it Optuna cannot sample
_ENTRY = (
    "{low: …, high: …} with low below high, and log: true (above 0), step: … or when: {KEY: VALUE} if wanted; "
    "or a list of two or more different choices"
)
Conditions = Mapping[str, Sequence[Any]]
"""Key of the configuration → the values under which a dimension is searched."""


@dataclass(frozen=True)
class Dimension:
    """A key, where its values come from, and under which conditions it is searched."""

    key: str
    distribution: FloatDistribution | IntDistribution | CategoricalDistribution
    choices: Mapping[Any, Any]
    """Optuna's parameter → its choice; empty for a range, whose parameters are the values."""
    when: Conditions
    text: str
    """The entry as it was given, for messages."""

    def suggest(self, trial: Trial) -> Any:
        """A value for `trial`."""
        domain = self.distribution
        if isinstance(domain, CategoricalDistribution):
            return self.choices[trial.suggest_categorical(self.key, domain.choices)]
        if isinstance(domain, IntDistribution):
            return trial.suggest_int(self.key, domain.low, domain.high, step=domain.step, log=domain.log)
        return trial.suggest_float(self.key, domain.low, domain.high, step=domain.step, log=domain.log)

    def decode(self, param: Any) -> Any:
        """The value of Optuna's parameter."""
        return self.choices.get(param, param)

    def encode(self, value: Any) -> Any:
        """Optuna's parameter for a value of the space."""
        return next((param for param, choice in self.choices.items() if choice == value), value)

    def accepts(self, param: object) -> bool:
        """Whether Optuna's parameter lies in the space."""
        domain = self.distribution
        if isinstance(domain, CategoricalDistribution):
            return param in domain.choices
        if not isinstance(param, int | float) or isinstance(param, bool):
            return False
        steps = (param - domain.low) / domain.step if domain.step else 0.0
        return domain.low <= param <= domain.high and abs(steps - round(steps)) < 1e-8

    def extremes(self) -> tuple[Any, ...]:
        """Both ends of a range, or all choices."""
        domain = self.distribution
        return (
            tuple(self.choices.values()) if isinstance(domain, CategoricalDistribution) else (domain.low, domain.high)
        )

    def grid(self) -> list[Any]:
        """All of Optuna's parameters; InvalidOption for a range without a step."""
        domain = self.distribution
        if isinstance(domain, CategoricalDistribution):
            return list(domain.choices)
        if isinstance(domain, IntDistribution) and not domain.log:
            return list(range(domain.low, domain.high + 1, domain.step))
        if isinstance(domain, IntDistribution) or domain.step is None:
            allowed = "a list of choices or a range with a step when sweep.sampler=grid"
            raise InvalidOption(f"sweep.space.{self.key}", self.text, allowed)
        count = round((domain.high - domain.low) / domain.step) + 1
        return [min(domain.low + number * domain.step, domain.high) for number in range(count)]


def parse_dimension(key: str, entry: object, current: object) -> Dimension:
    """The dimension of an entry; with a fraction as `current` value of the key, whole bounds make a float range.

    InvalidOption under sweep.space.KEY.
    """
    text = json.dumps(entry, default=str).replace('"', "")
    given: Any = entry if isinstance(entry, Mapping) else {"choices": entry}
    data: dict[str, Any] = dict(given)
    try:
        when = _conditions(data.pop("when", {}))
        if "choices" in data:
            return _categorical(key, **data, when=when, text=text)
        return _numeric(key, **data, when=when, text=text, whole=not isinstance(current, float))
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidOption(f"sweep.space.{key}", text, _ENTRY) from error


def _numeric(
    key: str, low: Any, high: Any, *, step: Any = None, log: Any = False, when: Conditions, text: str, whole: bool
) -> Dimension:
    """A range. Raises ValueError or TypeError for bounds that are none."""
    numbers = [number for number in (low, high, step) if number is not None]
    if any(isinstance(number, bool) for number in numbers) or not isinstance(log, bool):
        raise TypeError("true and false are no numbers")
    if not low < high or abs(low) >= _LARGEST or abs(high) >= _LARGEST or (step is not None and step > high - low):
        raise ValueError("low must be below high, and step at most the whole range")
    if whole and all(isinstance(number, int) for number in numbers):
        return Dimension(key, IntDistribution(low, high, log=log, step=step or 1), {}, when, text)
    # Optuna lowers `high` to the last step and warns about it
    top = high if step is None else low + int((high - low) / step + 1e-9) * step
    distribution = FloatDistribution(float(low), float(top), log=log, step=None if step is None else float(step))
    return Dimension(key, distribution, {}, when, text)


def _categorical(key: str, choices: Sequence[Any], *, when: Conditions, text: str) -> Dimension:
    """A list of choices. Raises ValueError or TypeError for fewer than two different ones."""
    labels = [json.dumps(choice, sort_keys=True) for choice in choices]
    if not isinstance(choices, list) or len(set(labels)) < max(2, len(labels)):
        raise ValueError("fewer than two different choices")
    plain = all(choice is None or isinstance(choice, str | int | float) for choice in choices)
    # Optuna keeps scalars only, and cannot tell 1 from 1.0 or true
    params = choices if plain and len(set(choices)) == len(choices) else labels
    return Dimension(key, CategoricalDistribution(params), dict(zip(params, choices, strict=True)), when, text)


def _conditions(entry: Mapping[str, Any]) -> Conditions:
    """Key → allowed values of `when`; {agent: {double: true}} is {agent.double: true}."""
    conditions: dict[str, Sequence[Any]] = {}
    for name, value in dict(entry).items():
        if isinstance(value, Mapping):
            inner = _conditions(cast(Mapping[str, Any], value))
            conditions |= {f"{name}.{rest}": allowed for rest, allowed in inner.items()}
        else:
            conditions[name] = cast(list[Any], value) if isinstance(value, list) else [value]
    return conditions


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
        ordered, names = _sorted(dimensions), flatten(config)
        for dimension in ordered:
            for key, allowed in dimension.when.items():
                place = f"sweep.space.{dimension.key}.when."
                if key not in names:
                    raise unknown_key(f"{place}{key}", list(allowed), [f"{place}{name}" for name in names])
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
