"""What is wrong with a configuration, in one line: Hydra's own messages speak of Hydra.

Works after the fact: Hydra refused the overrides as a whole, so each is looked at in turn to find the one at fault.
Everything here runs while Hydra is initialised.
"""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, cast

from hydra import compose
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from cardlab.core.options import InvalidOption, shortened, unknown_key
from cardlab.experiments.config.options import InvalidConfiguration

REFUSALS = (HydraException, OmegaConfBaseException, ValueError)
"""What Hydra raises for overrides that it cannot take."""


def explain(error: Exception, config_name: str, overrides: Sequence[str]) -> ValueError:
    """The exception to show instead of `error`, which `overrides` on the configuration `config_name` have caused."""
    for text in overrides:
        try:
            override = OverridesParser.create().parse_override(text)
        except (HydraException, ValueError):  # the latter for a number of too many digits
            return InvalidConfiguration(f"{shortened(text)}: cannot be read as key=value{_quoting(text)}")
        reason = _check_value(override) or _check_choice(override)
        if reason:
            return reason
    return _unknown_override(config_name, overrides) or InvalidConfiguration(one_line(error))


def explain_value(error: OmegaConfBaseException) -> ValueError:
    """The exception to show for a value that is still to be given, or that refers to nothing."""
    key = error.full_key or "the configuration"
    if isinstance(error, MissingMandatoryValue):
        return InvalidOption(key, "(left out)", "given")
    return InvalidConfiguration(f"{key}: {one_line(error)}")


def flat_keys(node: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """All keys of nested mappings with dots between them, inner nodes included."""
    for name, value in node.items():
        yield f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from flat_keys(cast(Mapping[str, Any], value), f"{prefix}{name}.")


def group_names() -> list[str]:
    """The groups of the configuration, as `agent` in conf/agent/."""
    return [name for name in GlobalHydra.instance().config_loader().list_groups("") if name != "hydra"]


def group_options(group: str) -> list[str]:
    """The options that `group=` takes: general ones first, then those of its folders, as FOLDER/NAME."""
    loader = GlobalHydra.instance().config_loader()
    options = loader.get_group_options(group)
    for folder in sorted(loader.list_groups(group)):
        options += [f"{folder}/{name}" for name in group_options(f"{group}/{folder}")]
    return options


def options_by_folder(options: Sequence[str]) -> dict[str, list[str]]:
    """Folder → names of its options, in the order of `options`; general options stand under ""."""
    found: dict[str, list[str]] = {}
    for option in options:
        folder, _, name = option.rpartition("/")
        found.setdefault(folder, []).append(name)
    return found


def _check_value(override: Override) -> ValueError | None:
    """A list of values where one is due: Hydra would start several jobs."""
    if not override.is_sweep_override():
        return None
    hint = "to try several: cardlab sweep … sweep.sampler=grid; a list is written [a,b]"
    return InvalidConfiguration(f"{override.input_line}: takes one value ({hint})")


def _check_choice(override: Override) -> ValueError | None:
    """An option that the group does not have."""
    group = override.key_or_group
    if group not in group_names() or override.is_delete():
        return None
    options = group_options(group)
    value = override.value()
    if isinstance(value, list) or value in options:
        return None
    return InvalidOption(_key_text(override), _value_text(override), _accepted(str(value), options))


def _accepted(value: str, options: Sequence[str]) -> str:
    """What to choose instead of `value`: options of its folder, those of its name, or all and the nearest."""
    flat = [option for option in options if option.replace("/", "_") == value]
    same_folder = [option for option in options if "/" in option and _names_folder(value, option.rpartition("/")[0])]
    same_name = [option for option in options if option.rpartition("/")[2] == value]
    if likely := flat or same_folder or same_name:
        return f"one of {', '.join(likely)}" if len(likely) > 1 else likely[0]
    near = get_close_matches(value, options, n=1, cutoff=0.65)
    rows = [
        f"{folder}/: {', '.join(names)}" if folder else ", ".join(names)
        for folder, names in options_by_folder(options).items()
    ]
    return f"one of {'; '.join(rows)}" + (f" (did you mean {near[0]}?)" if near else "")


def _names_folder(value: str, folder: str) -> bool:
    return f"{value}/".startswith((f"{folder}/", f"{folder}_"))


def _unknown_override(config_name: str, overrides: Sequence[str]) -> ValueError | None:
    """The first override that the configuration has no place for."""
    groups = group_names()
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    chosen = [entry for entry in parsed if entry.key_or_group in groups]
    for entry in parsed:
        others = [str(other.input_line) for other in chosen if other is not entry]
        try:
            compose(config_name, [*others, str(entry.input_line)])
        except REFUSALS:
            base = _composed(config_name, others)
            if base is not None and not _has_place(base, entry):
                return _no_place(entry, base, f"conf/{config_name}.yaml")
    return None


def _composed(config_name: str, overrides: Sequence[str]) -> DictConfig | None:
    try:
        return compose(config_name, list(overrides), return_hydra_config=True)
    except REFUSALS:
        return None


def _choices(base: DictConfig) -> list[str]:
    """The groups in the defaults, with packages: `agent`, or `agent@experiments.NAME.agent`."""
    return [name for name in map(str, base.hydra.runtime.choices) if not name.startswith("hydra/")]


def _known_keys(base: DictConfig) -> list[str]:
    data = cast(dict[str, Any], OmegaConf.to_container(base, resolve=False))
    data.pop("hydra")
    return list(flat_keys(data))


def _has_place(base: DictConfig, entry: Override) -> bool:
    return _key_text(entry) in {*_known_keys(base), *_choices(base)}


def _no_place(entry: Override, base: DictConfig, owner: str) -> InvalidOption:
    key = _key_text(entry)
    known = _known_keys(base)
    refusal = unknown_key(key, _value_text(entry), list(dict.fromkeys(known + _choices(base))), owner)
    parent = key.rpartition(".")[0]
    packages = [name.partition("@")[2] or name for name in _choices(base)]
    inside = parent not in packages and any(parent.startswith(f"{package}.") for package in packages)
    if inside and OmegaConf.is_dict(OmegaConf.select(base, parent)):  # an option that is itself a mapping
        return InvalidOption(key, _value_text(entry), f"{refusal.allowed}; +{entry.input_line} adds an entry")
    return refusal


def _key_text(override: Override) -> str:
    return override.get_key_element().lstrip("+~")


def _value_text(override: Override) -> str:
    return str(override.input_line).partition("=")[2]


def _quoting(text: str) -> str:
    value = text.partition("=")[2]
    if any(sign in value for sign in "?=&:(){}[],' "):
        return f""" (a value with signs such as ? and = needs quotes: '{text.partition("=")[0]}="…"')"""
    return ""


def one_line(error: Exception) -> str:
    """The message of `error` without its line breaks, and without what only speaks of Hydra."""
    lines = [line.strip() for line in str(error).splitlines()]
    return "; ".join(line for line in lines if line and not line.startswith(("full_key", "object_type", "See http")))
