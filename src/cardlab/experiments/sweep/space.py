"""The search space of a sweep, from its entries: the values of a trial, of a grid and of the experiment itself."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

from optuna import Trial, TrialPruned
from optuna.distributions import BaseDistribution, check_distribution_compatibility
from optuna.trial import FrozenTrial

from cardlab.core.messages import InvalidOption, one_of, unknown_key
from cardlab.core.options import check_that
from cardlab.experiments.sweep.dimension import Dimension, parse_dimension
from cardlab.experiments.sweep.group_option import (
    ABSENT,
    GroupOption,
    chosen_options,
    invalid_entry,
    option_key,
    value_at,
)
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

        Choices of a group are a mapping: name → content. The entry `agent.dqn.gamma` is for the key agent.gamma of the
        option dqn. InvalidOption under sweep.space.KEY for an entry that is none of these, or whose condition names no
        key or no option.
        """
        options = chosen_options(entries)
        configs = [config, *({**config, key: content} for key in options for content in options[key].values())]
        dimensions: list[Dimension] = []
        for param, entry in entries.items():
            group, key, option = option_key(param, options)
            own = [{**config, group: options[group][option]}] if option else configs
            current = next((value for each in own if (value := value_at(each, key)) is not ABSENT), None)
            dimensions.append(parse_dimension(param, key, entry, current, {group: [option]} if option else {}))
        ordered, names = _sorted(dimensions), {name for each in configs for name in flatten(each)}
        for dimension in ordered:
            for key, allowed in dimension.when.items():
                place = f"sweep.space.{dimension.param}.when."
                if key not in names and key not in options:
                    raise unknown_key(f"{place}{key}", list(allowed), [f"{place}{name}" for name in sorted(names)])
                fits = set(allowed) <= set(options.get(key, allowed))
                check_that(fits, f"{place}{key}", list(allowed), one_of(list(options.get(key, ()))))
        return cls(tuple(ordered), config)

    def suggest(self, trial: Trial) -> Values:
        """The values of a trial; a dimension whose condition does not hold has none."""
        values: Values = {}
        for dimension in self.dimensions:
            if self._is_active(dimension, values):
                values[dimension.key] = dimension.suggest(trial)
        return values

    def decode(self, params: Mapping[str, Any]) -> Values:
        """The values of Optuna's parameters, a group before its keys."""
        known = {dimension.param: dimension for dimension in self.dimensions}
        values = {one.key: one.decode(params[name]) for name, one in known.items() if name in params}
        return values | {name: params[name] for name in params if name not in known}

    def baseline(self) -> dict[str, Any]:
        """Optuna's parameters of the configuration itself, as far as they lie in the space."""
        params: dict[str, Any] = {}
        for dimension in self.dimensions:
            if self._is_active(dimension, self.decode(params)):
                param = dimension.encode(value_at(self.config, dimension.key))
                params |= {dimension.param: param} if dimension.accepts(param) else {}
        return params

    def check_enqueued(self, trial: FrozenTrial) -> None:
        """Raise TrialPruned for a trial that was enqueued with parameters outside the space."""
        known = {dimension.param: dimension for dimension in self.dimensions}
        params: Mapping[str, Any] = trial.system_attrs.get("fixed_params", {})
        for key, param in params.items():
            if key not in known:
                meant = " or ".join(dimension.param for dimension in self.dimensions if dimension.key == key)
                advice = f"; it has {meant}" if meant else ""
                raise TrialPruned(f"enqueued with {key}={param}: the space has no such key{advice}")
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
                larger += [{**point, dimension.param: value} for value in params] if active else [point]
            points = larger
            if len(points) > MAX_GRID_POINTS:
                allowed = f"another: this grid has more than {MAX_GRID_POINTS:,} points"
                raise InvalidOption("sweep.sampler", "grid", allowed)
        return points

    def extremes(self) -> Iterator[tuple[Dimension, Values]]:
        """Each end and each choice of each dimension, with values that meet its condition."""
        for dimension in self.dimensions:
            required = self._required(dimension)
            for value in dimension.extremes():
                yield dimension, {**required, dimension.key: value}

    def check_history(self, history: Sequence[Mapping[str, BaseDistribution]], study: str) -> None:
        """Raise InvalidOption where the distributions of earlier trials are incompatible with this space."""
        for dimension in self.dimensions:
            for earlier in history:
                old = earlier.get(dimension.param)
                try:
                    check_distribution_compatibility(old or dimension.distribution, dimension.distribution)
                except ValueError as error:
                    allowed = f"of the kind, scale and choices that the study {study} has; or name another study"
                    raise invalid_entry(dimension.param, dimension.text, allowed) from error

    @property
    def groups(self) -> dict[str, list[GroupOption]]:
        """Group → the options to choose from."""
        searched = {dimension.key: [*dimension.choices.values()] for dimension in self.dimensions}
        return {key: found for key, found in searched.items() if found and isinstance(found[0], GroupOption)}

    def _is_active(self, dimension: Dimension, values: Values) -> bool:
        """Whether the option that `values` choose has the key, and the conditions hold."""
        chosen = {key: value.content for key, value in values.items() if isinstance(value, GroupOption)}
        config = {**self.config, **chosen}
        found = [values[key] if key in values else value_at(config, key) for key in dimension.when]
        names = [value.name if isinstance(value, GroupOption) else value for value in found]
        meets = all(name in allowed for name, allowed in zip(names, dimension.when.values(), strict=True))
        return meets and value_at(config, dimension.key) is not ABSENT

    def _required(self, dimension: Dimension) -> Values:
        """Values that meet the condition of a dimension, with options that have its keys."""
        required: Values = {}
        for group, options in self.groups.items():
            keys = [key for key in (dimension.key, *dimension.when) if key.startswith(f"{group}.")]
            allowed = dimension.when.get(group)
            fitting = [
                option
                for option in options
                if (allowed is None or option.name in allowed)
                and all(value_at({group: option.content}, key) is not ABSENT for key in keys)
            ]
            is_own = allowed is None and all(value_at(self.config, key) is not ABSENT for key in keys)
            required |= {} if is_own or not fitting else {group: fitting[0]}
        return required | {key: allowed[0] for key, allowed in dimension.when.items() if key not in required}


def values_text(values: Mapping[str, Any]) -> str:
    """`agent.gamma=0.99 agent.epsilon=0.05`."""
    return " ".join(f"{key}={short(value)}" for key, value in values.items())


def short(value: object) -> str:
    """A value with four digits, if it is a fraction."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _sorted(dimensions: Sequence[Dimension]) -> list[Dimension]:
    """Each after those that its condition names; InvalidOption for conditions in a circle."""
    known = {dimension.param: dimension for dimension in dimensions}
    order = TopologicalSorter(dict.fromkeys(known, ()))
    for param, dimension in known.items():
        group = dimension.key.partition(".")[0]
        before = [name for name, other in known.items() if other.key in dimension.when or name == group]
        order.add(param, *(name for name in before if name != group or dimension.key != group))
    try:
        return [known[key] for key in order.static_order()]
    except CycleError as error:
        first = known[error.args[1][0]]
        allowed = "a condition that does not depend on itself"
        raise invalid_entry(f"{first.param}.when", first.text, allowed) from error
