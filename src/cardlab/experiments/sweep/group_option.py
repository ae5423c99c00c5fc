"""Choices of whole groups in a search space: options as the values of trials, each composed once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from cardlab.core.messages import InvalidOption
from cardlab.core.parts import NAME
from cardlab.experiments.config.composition import compose_config, compose_experiment, initialised_hydra
from cardlab.experiments.config.error_lines import accepted_options, flat_keys, group_options, key_of
from cardlab.experiments.config.values import flat_space

MIN_CHOICES = 2


@dataclass(frozen=True)
class GroupOption:
    """A value for a whole group: the name of one of its options, and its content."""

    name: str
    content: Mapping[str, Any]

    def __str__(self) -> str:
        return self.name


def chosen_options(entries: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Group → name → content of the options that a trial may choose."""
    return {
        key: entry["choices"]
        for key, entry in entries.items()
        if "." not in key and isinstance(entry, Mapping) and isinstance(entry.get("choices"), Mapping)
    }


ABSENT = ...
"""What `value_at` returns for a key that is not there."""


def value_at(config: Mapping[str, Any], key: str) -> Any:
    """The value at `key`, e.g. "agent.gamma", or ABSENT."""
    node: Any = config
    for name in key.split("."):
        node = node[name] if isinstance(node, Mapping) and name in node else ABSENT
    return node


def option_key(param: str, options: Mapping[str, Mapping[str, Any]]) -> tuple[str, str, str]:
    """Group, key and option of the entry `agent.dqn.gamma`; of another, its group, itself and "".

    `options`: group → name → content. An option may have entries for other groups: agent.dqn.network.widths.
    """
    group, _, rest = param.partition(".")
    option, _, inner = rest.partition(".")
    if not inner or option not in options.get(group, {}):
        return group, param, ""
    return group, inner if value_at(options[group][option], inner) is ABSENT else f"{group}.{inner}", option


def invalid_entry(param: str, entry: object, allowed: str) -> InvalidOption:
    """The error for an entry of a search space."""
    return InvalidOption(f"sweep.space.{param}", entry, allowed)


CHOSEN_GROUPS = ("agent", "network", "opponents")
"""Groups whose options a trial may choose: they decide how it trains, and not what its score means."""


def compose_choices(space: Mapping[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """The entries of a space, flat, in which the choices of a group have become name → content.

    The content is that of `GROUP=NAME` with those of `overrides` that the option has. Each agent brings the entries of
    its conf/sweep/NAME.yaml, unless `overrides` have sweep=standard. Raises InvalidOption for an entry that is no list
    of options, and for an unknown option.
    """
    entries = flat_space(space)
    for group in set(CHOSEN_GROUPS) & set(entries):
        entry: Any = entries[group]
        data: dict[str, Any] = {**entry} if isinstance(entry, Mapping) else {"choices": entry}
        names: Any = data.get("choices")
        if not isinstance(names, list) or len({*map(str, cast(list[Any], names))}) < max(MIN_CHOICES, len(names)):
            raise invalid_entry(group, entry, f"two or more options of {group}, as in [a,b]")
        entries[group] = {**data, "choices": {str(name): _composed(group, str(name), overrides) for name in names}}
    for name, content in entries["agent"]["choices"].items() if "agent" in entries else ():
        own = _own_space(content) if "sweep=standard" not in overrides else {}
        brought = {key.removeprefix("agent."): entry for key, entry in own.items() if key not in entries}
        entries = {f"agent.{name}.{key}": entry for key, entry in brought.items()} | entries
    return entries


def _composed(group: str, name: str, overrides: Sequence[str]) -> Mapping[str, Any]:
    with initialised_hydra():
        options = group_options(group)
    if name not in options:
        raise invalid_entry(group, name, accepted_options(name, options))
    own = [text for text in overrides if key_of(text).partition(".")[0] == group]
    others = [text for text in overrides if text not in own and key_of(text).partition(".")[0] != "sweep"]
    others.append(f"{group}={name}")
    known = {f"{group}.{key}" for key in flat_keys(compose_experiment(others)[group])}
    fitting = [text for text in own if (key_of(text).rpartition(".")[0] if text[0] == "+" else key_of(text)) in known]
    return compose_experiment([*others, *fitting])[group]


def _own_space(content: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of the search space that is named as the agent is; none without one."""
    with initialised_hydra():
        if content[NAME] not in group_options("sweep"):
            return {}
    return flat_space(compose_config(f"sweep/{content[NAME]}")["sweep"]["space"])
