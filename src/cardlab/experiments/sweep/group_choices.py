"""Choices of whole groups in a search space, as in sweep.space.network=[mlp,trunks]: each option composed once."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from cardlab.core.parts import NAME
from cardlab.experiments.config.composition import compose_config, compose_experiment, initialised_hydra
from cardlab.experiments.config.error_lines import accepted_options, flat_keys, group_options, key_of
from cardlab.experiments.config.values import flat_space
from cardlab.experiments.sweep.group_option import MIN_CHOICES, invalid_entry

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
