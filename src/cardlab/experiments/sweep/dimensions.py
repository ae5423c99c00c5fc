"""One dimension of a search space, from an entry of conf/sweep/ for one key."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from optuna import Trial
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from cardlab.core.options import InvalidOption

_LARGEST = 2**63  # beyond it Optuna cannot sample
_RANGE = "{low: …, high: …}, with log: true, step: … or when: {KEY: VALUE} if wanted"
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
    if not isinstance(entry, Mapping | list):
        raise InvalidOption(f"sweep.space.{key}", text, "{low: …, high: …} or a list of choices")
    data = dict(cast(Mapping[str, Any], entry)) if isinstance(entry, Mapping) else {"choices": cast(list[Any], entry)}
    when = _conditions(data.pop("when", {}), f"sweep.space.{key}.when")
    if set(data) == {"choices"} and isinstance(data["choices"], list):
        return _categorical(key, cast(list[Any], data["choices"]), when, text)
    if not {"low", "high"} <= set(data) <= {"low", "high", "log", "step"}:
        raise InvalidOption(f"sweep.space.{key}", text, f"{_RANGE}; or {{choices: [a, b]}}")
    return _numeric(key, data, when, text, whole=not isinstance(current, float))


def _numeric(key: str, data: Mapping[str, Any], when: Conditions, text: str, *, whole: bool) -> Dimension:
    low, high, step, log = data["low"], data["high"], data.get("step"), data.get("log", False)
    numbers = [low, high] if step is None else [low, high, step]
    sound = all(isinstance(n, int | float) and not isinstance(n, bool) and abs(n) < _LARGEST for n in numbers)
    if not sound or low >= high or not isinstance(log, bool):
        raise InvalidOption(f"sweep.space.{key}", text, f"{_RANGE}: numbers, low below high")
    if step is not None and not 0 < step <= high - low:
        raise InvalidOption(f"sweep.space.{key}.step", step, f"above 0 and at most {high - low:g}, the whole range")
    if log and (low <= 0 or step is not None):
        raise InvalidOption(f"sweep.space.{key}", text, "above 0 and without a step when log is true")
    if whole and all(isinstance(number, int) for number in numbers):
        return Dimension(key, IntDistribution(low, high, log=log, step=step or 1), {}, when, text)
    # Optuna lowers `high` to the last step and warns about it
    top = high if step is None else low + int((high - low) / step + 1e-9) * step
    distribution = FloatDistribution(float(low), float(top), log=log, step=None if step is None else float(step))
    return Dimension(key, distribution, {}, when, text)


def _categorical(key: str, choices: Sequence[Any], when: Conditions, text: str) -> Dimension:
    labels = [json.dumps(choice, sort_keys=True) for choice in choices]
    if len(set(labels)) < max(2, len(labels)):
        raise InvalidOption(f"sweep.space.{key}", text, "a list of two or more different choices")
    plain = all(choice is None or isinstance(choice, str | int | float) for choice in choices)
    # Optuna keeps scalars only, and cannot tell 1 from 1.0 or true
    params = choices if plain and len(set(choices)) == len(choices) else labels
    return Dimension(key, CategoricalDistribution(params), dict(zip(params, choices, strict=True)), when, text)


def _conditions(entry: object, key: str) -> Conditions:
    if not isinstance(entry, Mapping):
        raise InvalidOption(key, entry, "{KEY: VALUE} or {KEY: [VALUE, VALUE]}")
    conditions: dict[str, Sequence[Any]] = {}
    for name, value in cast(Mapping[str, Any], entry).items():
        if isinstance(value, Mapping):  # {agent: {double: true}} is {agent.double: true}
            inner = _conditions(cast(object, value), f"{key}.{name}")
            conditions |= {f"{name}.{rest}": allowed for rest, allowed in inner.items()}
        else:
            conditions[name] = cast(list[Any], value) if isinstance(value, list) else [value]
            if not conditions[name]:
                raise InvalidOption(f"{key}.{name}", "[]", "a value, or a list of at least one")
    return conditions
