"""One dimension of a search space: an entry of conf/sweep/ as a distribution that Optuna can sample."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from optuna import Trial
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from cardlab.experiments.sweep.group_option import MIN_CHOICES, GroupOption, invalid_entry

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

    param: str
    """Optuna's name: the key, or agent.dqn.gamma for the key agent.gamma of the option dqn."""
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
            return self.choices[trial.suggest_categorical(self.param, domain.choices)]
        if isinstance(domain, IntDistribution):
            return trial.suggest_int(self.param, domain.low, domain.high, step=domain.step, log=domain.log)
        return trial.suggest_float(self.param, domain.low, domain.high, step=domain.step, log=domain.log)

    def decode(self, param: Any) -> Any:
        """The value of Optuna's parameter."""
        return self.choices.get(param, param)

    def encode(self, value: Any) -> Any:
        """Optuna's parameter for a value of the space; of a group, for the content of one of its options."""
        contents = {param: getattr(choice, "content", choice) for param, choice in self.choices.items()}
        return next((param for param, content in contents.items() if content == value), value)

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
            example = f"'sweep.space.{self.param}=[{domain.low:g},{domain.high:g}]'"
            allowed = f"a list of choices or a range with a step with sweep.sampler=grid, as in {example}"
            allowed += "; without sweep=, what is typed is the grid"
            raise invalid_entry(self.param, self.text, allowed)
        count = round((domain.high - domain.low) / domain.step) + 1
        return [min(domain.low + number * domain.step, domain.high) for number in range(count)]


def parse_dimension(param: str, key: str, entry: object, current: object, required: Conditions) -> Dimension:
    """The dimension of an entry; with a fraction as `current` value of the key, whole bounds make a float range.

    `required`: conditions beside those of the entry. InvalidOption under sweep.space.PARAM.
    """
    data: dict[str, Any] = dict(cast(Any, entry)) if isinstance(entry, Mapping) else {"choices": entry}
    names = {key: [*value] if isinstance(value, Mapping) and key == "choices" else value for key, value in data.items()}
    shown = names["choices"] if [*names] == ["choices"] else names
    text = json.dumps(shown, default=str).replace('"', "")
    try:
        if isinstance(data.get("choices"), Mapping) and "." in key:
            raise TypeError("only groups have options")
        when = {**required, **_conditions(data.pop("when", {}))}
        domain, choices = _categorical(**data) if "choices" in data else (_numeric(**data, current=current), {})
    except (TypeError, ValueError, OverflowError) as error:
        raise invalid_entry(param, text, _ENTRY) from error
    return Dimension(param, key, domain, choices, when, text)


def _numeric(
    low: Any, high: Any, *, step: Any = None, log: Any = False, current: object
) -> FloatDistribution | IntDistribution:
    """A range. Raises ValueError or TypeError for bounds that are none."""
    numbers = [number for number in (low, high, step) if number is not None]
    if any(isinstance(number, bool) for number in numbers) or not isinstance(log, bool):
        raise TypeError("true and false are no numbers")
    if not low < high or abs(low) >= _LARGEST or abs(high) >= _LARGEST or (step is not None and step > high - low):
        raise ValueError("low must be below high, and step at most the whole range")
    if not isinstance(current, float) and all(isinstance(number, int) for number in numbers):
        return IntDistribution(low, high, log=log, step=step or 1)
    # Optuna lowers `high` to the last step and warns about it
    top = high if step is None else low + int((high - low) / step + 1e-9) * step
    return FloatDistribution(float(low), float(top), log=log, step=None if step is None else float(step))


def _categorical(choices: Any) -> tuple[CategoricalDistribution, dict[Any, Any]]:
    """A list of choices, or options of a group by name. Raises ValueError or TypeError for fewer than two."""
    if isinstance(choices, Mapping):
        options = {name: GroupOption(name, content) for name, content in cast(Mapping[str, Any], choices).items()}
        if len(options) < MIN_CHOICES:
            raise ValueError("a single option")
        return CategoricalDistribution([*options]), options
    labels = [json.dumps(choice, sort_keys=True) for choice in choices]
    if not isinstance(choices, list) or len(set(labels)) < max(MIN_CHOICES, len(labels)):
        raise ValueError("fewer than two different choices")
    plain = all(choice is None or isinstance(choice, str | int | float) for choice in choices)
    # Optuna stores scalars only, and takes 1, 1.0 and true for the same choice
    params = choices if plain and len(set(choices)) == len(choices) else labels
    return CategoricalDistribution(params), dict(zip(params, choices, strict=True))


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
