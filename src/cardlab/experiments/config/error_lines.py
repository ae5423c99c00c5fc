"""Errors of a configuration in one line, which names the key and what is accepted.

Hydra has refused the overrides as a whole; here each is checked in turn to find the wrong one. All functions need an
initialised Hydra.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import cache, partial
from typing import Any, cast

from hydra import compose
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from cardlab.core.messages import (
    ConfigurationError,
    InvalidConfiguration,
    InvalidOption,
    left_out,
    shortened,
    unknown_key,
)
from cardlab.core.parts import option_names, read_option

REFUSALS = (HydraException, OmegaConfBaseException, ValueError)
"""Exceptions that Hydra raises for wrong overrides."""


def explain(
    error: Exception, config_name: str, overrides: Sequence[str], entries: Sequence[str]
) -> list[ConfigurationError]:
    """The errors to raise instead of `error`, which `overrides` of the configuration `config_name` have caused.

    `entries`: those of `overrides` that may add keys of any name, such as sweep.space.KEY.
    """
    reasons = {text: _check_override(text, config_name) for text in overrides}
    errors = [reason for reason in reasons.values() if reason]
    wrong = [text for text, reason in reasons.items() if reason]
    keys = [key_of(text) for text in wrong]
    if not any(key in ("experiment", "benchmark", "sweep") or "@" in key for key in keys):  # these decide other keys
        known = [text for text in overrides if text not in (*wrong, *entries)]
        right = [text for text in known if not key_of(text).startswith(tuple(f"{key}." for key in keys))]
        errors += _unknown_overrides(config_name, right)
    plain_experiment = "No match in the defaults list" in str(error)
    hint = "; an experiment's defaults begin with /experiment/default@_here_" if plain_experiment else ""
    return errors or [InvalidConfiguration(one_line(error) + hint)]


def key_of(text: str) -> str:
    """The key of an override."""
    return text.partition("=")[0].lstrip("+~")


def explain_value(error: OmegaConfBaseException) -> ConfigurationError:
    """The exception to raise for a value that is missing, or that refers to nothing."""
    key = error.full_key or "the configuration"
    if isinstance(error, MissingMandatoryValue):
        return left_out(key)
    return InvalidConfiguration(f"{key}: {one_line(error)}")


def flat_keys(node: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """All keys of nested mappings with dots between them, including inner nodes."""
    for name, value in node.items():
        yield f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from flat_keys(cast(Mapping[str, Any], value), f"{prefix}{name}.")


def group_names() -> list[str]:
    """The groups of the configuration, as `agent` in conf/agent/."""
    return [name for name in GlobalHydra.instance().config_loader().list_groups("") if name != "hydra"]


def group_options(group: str) -> list[str]:
    """The options of a group: general ones first, then those of its folders, as FOLDER/NAME."""
    loader = GlobalHydra.instance().config_loader()
    options = loader.get_group_options(group)
    for folder in sorted(loader.list_groups(group)):
        options += [f"{folder}/{name}" for name in group_options(f"{group}/{folder}")]
    return options


def option_rows(options: Sequence[str]) -> list[str]:
    """`FOLDER/: NAME, NAME` for each folder, in the order of `options`; the row of general options is `NAME, NAME`."""
    found: dict[str, list[str]] = {}
    for option in options:
        folder, slash, name = option.rpartition("/")
        found.setdefault(f"{folder}/: " if slash else "", []).append(name)
    return [f"{folder}{', '.join(names)}" for folder, names in found.items()]


def _check_override(text: str, config_name: str) -> ConfigurationError | None:
    """The error for an override that cannot be read, has several values, or names no option of its group."""
    try:
        override = OverridesParser.create().parse_override(text)
    except (HydraException, ValueError):  # the latter for a number of too many digits
        advice = _quoting(text) or _meant(text, config_name)
        return InvalidConfiguration(f"{shortened(text)}: cannot be read as key=value{advice}")
    return _check_value(override, config_name) or _check_choice(override)


def _meant(text: str, config_name: str) -> str:
    """The override that was probably meant by an option or a folder without its key, behind a semicolon."""
    groups = sorted(group_names(), key=lambda name: ("experiment", "game", name).index(name))
    for group in groups:
        if text in group_options(group):
            return f"; did you mean {group}={text}?"
    with suppress(*REFUSALS):
        if os.path.exists(text) and "policy" in compose(config_name):
            return f"; did you mean policy={text}?"
    return ""


def _check_value(override: Override, config_name: str) -> ConfigurationError | None:
    """The error for several values of one key: Hydra would start several jobs."""
    if not override.is_sweep_override():
        return None
    key, values = override.key_or_group, _value_text(override)
    listed = "[a,b]" if "(" in values else f"[{values}]"
    hint = "a list is written [a,b]"
    if key.startswith("sweep.space."):
        hint = "a range is written {low: …, high: …}, choices are written [a,b]"
    elif config_name == "train":
        hint = f"seeds={listed} trains with each" if key == "seed" else f"cardlab train -m trains with each; {hint}"
    elif config_name == "sweep" and not key.startswith("sweep") and key != "seed":
        hint = f"'sweep.space.{key}={listed}' searches them; {hint}"
    return InvalidConfiguration(f"{override.input_line}: takes one value ({hint})")


def _check_choice(override: Override) -> ConfigurationError | None:
    """The error for an option that the group does not have."""
    group = override.key_or_group
    if group not in group_names() or override.is_delete():
        return None
    options = group_options(group)
    value = override.value()
    if all(each in options for each in (value if isinstance(value, list) else [value])):
        return None
    return InvalidOption(_key_text(override), _value_text(override), accepted_options(str(value), options))


def accepted_options(value: str, options: Sequence[str]) -> str:
    """The options to choose from: those of the folder or name in `value`, or all and the nearest."""
    flat = [option for option in options if option.replace("/", "_") == value]
    folders = {option: option.rpartition("/")[0] for option in options if "/" in option}
    same_folder = [option for option, at in folders.items() if f"{value}/".startswith((f"{at}/", f"{at}_"))]
    same_name = [option for option in options if option.rpartition("/")[2] == value]
    near = get_close_matches(value, options, n=1, cutoff=0.65)
    hint = f" (did you mean {near[0]}?)" if near and value not in folders.values() else ""
    if likely := flat or same_folder or same_name:
        return f"one of {', '.join(likely)}{hint}" if len(likely) > 1 else likely[0]
    return f"one of {'; '.join(option_rows(options))}{hint}"


def _unknown_overrides(config_name: str, overrides: Sequence[str]) -> Iterator[ConfigurationError]:
    """The errors for the overrides whose key the configuration does not have, or has with another sign."""
    groups = group_names()
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    composed = cache(partial(_composed, config_name))
    for entry in parsed:
        others = tuple(str(other.input_line) for other in parsed if other.key_or_group in groups and other is not entry)
        base = composed(others)
        may_fit = entry.key_or_group in groups or entry.is_add() or isinstance(entry.value(), dict)
        if base is None or (may_fit and composed((*others, str(entry.input_line))) is not None):
            continue
        if refusal := _check_key(entry, base, f"conf/{config_name}.yaml") or _check_sign(entry):
            yield refusal


def _composed(config_name: str, overrides: Sequence[str]) -> DictConfig | None:
    """The tree with Hydra's own node, or None if these overrides are refused."""
    with suppress(*REFUSALS):
        return compose(config_name, list(overrides), return_hydra_config=True)
    return None


def _check_key(entry: Override, base: DictConfig, owner: str) -> ConfigurationError | None:
    """The error for a key that is in `base` neither as a key nor as a group, such as agent@experiments.NAME.agent."""
    key, value = _key_text(entry), _value_text(entry)
    groups = [name for name in map(str, base.hydra.runtime.choices) if not name.startswith("hydra/")]
    data = cast(dict[str, Any], OmegaConf.to_container(base, resolve=False))
    data.pop("hydra")
    known = list(dict.fromkeys([*flat_keys(data), *groups]))
    if key in known:
        return None
    if entry.is_delete():
        near = get_close_matches(key, known, n=1)
        hint = f"; did you mean ~{near[0]}?" if near else ""
        return InvalidConfiguration(f"{entry.input_line}: no such key{hint}")
    experiments = data.get("experiments")
    part, _, rest = key.partition(".")
    if part == "experiments" and isinstance(experiments, dict) and rest.partition(".")[0] not in experiments:
        names = ", ".join(cast(dict[str, Any], experiments))
        return InvalidOption(key, value, f"of an experiment of the benchmark: {names}; benchmark=NAME has others")
    refusal, advice = unknown_key(key, value, known, owner), ""
    others = option_names(part) if rest and part in group_names() else []
    takers = [name for name in others if "/" not in name and rest in read_option(part, name)]
    parent = key.rpartition(".")[0]
    packages = [name.partition("@")[2] or name for name in groups]
    inside = parent not in packages and any(parent.startswith(f"{package}.") for package in packages)
    owners = [name for name in known if name.startswith("experiments.") and name.partition(".")[2].endswith(f".{key}")]
    if owners and part not in data:
        advice = f"{owners[0]}={value} sets it for one"
    elif takers:
        advice = f"{' or '.join(f'{part}={name}' for name in takers)} has it"
    elif inside and OmegaConf.is_dict(OmegaConf.select(base, parent)):  # an option that is itself a mapping
        advice = f"+{entry.input_line} adds an entry"
    return InvalidOption(key, value, f"{refusal.allowed}; {advice}") if advice else refusal


def _check_sign(entry: Override) -> ConfigurationError | None:
    """The error for a known key that Hydra wants with a sign + before it, or without one."""
    line = str(entry.input_line)
    if entry.is_add():
        return InvalidConfiguration(f"{line}: this key exists; write {line.lstrip('+')}")
    if not isinstance(entry.value(), dict):
        return None
    key, quoted = _key_text(entry), f"'+{line}'"
    return InvalidOption(key, _value_text(entry), f"written {quoted}, as it adds entries; '~{key}.NAME' removes one")


def _key_text(override: Override) -> str:
    return override.get_key_element().lstrip("+~")


def _value_text(override: Override) -> str:
    return str(override.input_line).partition("=")[2]


def _quoting(text: str) -> str:
    key, sign, value = text.partition("=")
    if not sign and key.count("{") != key.count("}"):  # the shell has cut a value at its spaces
        return " (a value with spaces needs quotes around the whole: 'KEY={low: 1, high: 2}')"
    if any(sign in value for sign in "?=&:(){}[],' ") or not value.isascii():
        return f""" (a value with signs such as ? and é needs quotes: '{key}="…"')"""
    return ""


def one_line(error: Exception) -> str:
    """The message of `error` without line breaks, and without its lines about Hydra."""
    lines = [line.strip() for line in str(error).splitlines()]
    return "; ".join(line for line in lines if line and not line.startswith(("full_key", "object_type", "See http")))
