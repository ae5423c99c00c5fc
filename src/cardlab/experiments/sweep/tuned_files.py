"""The best values of a sweep as files of conf/, and checks of what such a sweep may be called and search."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from omegaconf import OmegaConf

from cardlab.core.files import write_atomically
from cardlab.core.messages import InvalidConfiguration, InvalidOption, unknown_key
from cardlab.core.parts import CONF, NAME, option_names, read_option
from cardlab.experiments.config.composition import (
    compose_config,
    compose_experiment,
    compose_tree,
    initialised_hydra,
    plain,
    search_folders,
)
from cardlab.experiments.config.error_lines import flat_keys, group_options
from cardlab.experiments.config.values import flat_space, with_values
from cardlab.experiments.sweep.group_choices import CHOSEN_GROUPS
from cardlab.experiments.sweep.group_option import (
    ABSENT,
    GroupOption,
    chosen_options,
    invalid_entry,
    option_key,
    value_at,
)

_HEADER = "# Written by `cardlab sweep sweep.apply={name}`.\n"
_ROOT = "default"  # the experiment on which all others build
_NEVER_SEARCHED = ("arena", "name", "seed")  # what decides which scores compare


def check_keys(
    space: Mapping[str, Any],
    config: Mapping[str, Any],
    typed: Collection[str] | None = None,
    *,
    is_grid: bool = False,
) -> None:
    """Raise InvalidOption for a key that `config` does not have or that must not be searched.

    Raises InvalidConfiguration for options of another agent; the message names all of them. `typed`: the keys of
    entries that the user has written; one that is wrong is a typing error, one of a file of conf/sweep/ is for another
    agent. A grid may hold seeds: it looks at all its points, where a sampler would choose the luckiest seed.
    """
    entries = flat_space(space)
    options = chosen_options(entries)
    known = [*flat_keys(config)]
    for group, contents in options.items():
        for name, content in contents.items():
            known += [f"{place}.{key}" for place in (group, f"{group}.{name}") for key in flat_keys(content)]
    keys = {param: option_key(param, options)[1] for param in entries}
    strange = [key for key in keys if key == keys[key] and key.startswith("agent.") and key not in known]
    others = [read_option("agent", name) for name in option_names("agent") if strange and "/" not in name]
    strange = [key for key in strange if any(value_at({"agent": other}, key) is not ABSENT for other in others)]
    if len(strange) > 1 or (typed is not None and not set(strange) <= set(typed)):
        name = config["agent"]["name"]
        with initialised_hydra():
            own = name in group_options("sweep")
        hint = f"choose sweep={name}" if own else "give 'sweep.space.agent.KEY={low: …, high: …}'"
        foreign = ", ".join(f"sweep.space.{key}" for key in strange)
        raise InvalidConfiguration(f"{foreign}: agent={name} has no such options; {hint}")
    for key, entry in entries.items():
        if key.partition(".")[0] in _NEVER_SEARCHED and not (is_grid and key == "seed"):
            allowed = "left out: scores compare on the same deals, references and seeds only"
            allowed += "; sweep.sampler=grid takes seeds" if key == "seed" else ""
            raise invalid_entry(key, entry, allowed)
        if isinstance(config.get(key), Mapping) and key not in options:
            allowed = f"for a key of {key}, as in sweep.space.{key}.KEY; options can be chosen of"
            raise invalid_entry(key, entry, f"{allowed} {', '.join(CHOSEN_GROUPS)}")
        if key not in known and keys[key] not in known:
            raise unknown_key(f"sweep.space.{key}", entry, [f"sweep.space.{name}" for name in known])


def write_tuned(
    name: str,
    overrides: Sequence[str],
    values: Mapping[str, Any],
    notes: Sequence[str] = (),
    *,
    overwrite: bool = False,
) -> list[Path]:
    """Write the experiment that `overrides` compose, with `values`, into conf/ of the working directory.

    conf/agent/NAME.yaml holds the tuned values and names its base, as do those of network and opponents if they
    changed. conf/experiment/NAME.yaml builds on the experiment that `overrides` name, and has what differs from it. The
    experiment of FOLDER/NAME is called FOLDER_NAME. `notes` are comments at the head of each file. Returns the files.
    Raises InvalidOption for a name that check_name refuses.
    """
    check_name(name, overwrite=overwrite)
    tree = compose_tree("sweep", overrides, with_hydra=True)
    choices = {str(group): str(choice) for group, choice in tree.hydra.runtime.choices.items()}
    choices |= {key: value.name for key, value in values.items() if isinstance(value, GroupOption)}
    experiment = OmegaConf.masked_copy(tree, [str(key) for key in tree if key not in ("hydra", "sweep")])
    config = with_values(plain(experiment), values)
    written: list[Path] = []
    for group in CHOSEN_GROUPS:  # an experiment sets nothing below these: tuned values are options of their own
        base = choices[group]
        content = _changed(group, base, config[group], values)
        if group == "agent" or content:
            alone = name in _bases(group, base) or content == config[group]
            choices[group] = name
            name_in_tables = {NAME: config[group][NAME]}  # the word for the method, not that of this file
            inherited = {"defaults": [f"/{group}/{base}@_here_", "_self_"], **name_in_tables, **content}
            written.append(_write(group, name, config[group] if alone else inherited, notes))
    base = choices["experiment"]
    base = _ROOT if name in _bases("experiment", base) else base
    groups = [group for group in choices if group in config]
    inherited = compose_tree("sweep", [f"experiment={base}"], with_hydra=True).hydra.runtime.choices
    changed = {group: choices[group] for group in groups if choices[group] != inherited[group]}
    parent = compose_experiment([f"experiment={base}", *(f"{group}={option}" for group, option in changed.items())])
    differences = {group: _difference(config[group], parent[group]) for group in groups if group not in CHOSEN_GROUPS}
    defaults: list[Any] = [f"/experiment/{base}@_here_"]
    defaults += [{f"override /{group}@{group}": option} for group, option in changed.items()]
    rest = {group: difference for group, difference in differences.items() if difference}
    content = {"defaults": [*defaults, "_self_"], "name": flat_name(name), **rest}
    return [*written, _write("experiment", name, content, notes)]


def flat_name(option: str) -> str:
    """The name of an experiment in folders and keys: big2_ppo for the option big2/ppo."""
    return option.replace("/", "_")


def check_name(name: str, *, overwrite: bool = False) -> None:
    """Raise InvalidOption unless `name` is NAME or FOLDER/NAME, and is new or was written by a sweep.

    With `overwrite`, other options may be replaced, except `default`, on which other experiments build.
    """
    folder, slash, last = name.rpartition("/")
    words = [folder, last] if slash else [last]
    if last == "default" or not all(word.replace("-", "_").isidentifier() for word in words):
        raise InvalidOption("sweep.apply", name, "NAME or FOLDER/NAME, of letters, digits and _, other than default")
    if overwrite:
        return
    for group in (*CHOSEN_GROUPS, "experiment"):
        if not _is_free(group, name):
            allowed = f"a new name: {group}={name} exists (sweep.overwrite=true replaces it)"
            raise InvalidOption("sweep.apply", name, allowed)


def _is_free(group: str, name: str) -> bool:
    """Whether no option has this name, or a sweep wrote it."""
    file = _file(group, name)
    if file.is_file():
        return file.read_text(encoding="utf-8").startswith(_first_lines(group, name))
    with initialised_hydra():
        return name not in group_options(group)


def _changed(group: str, base: str, content: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of `content` that were tuned or differ from `base`; all of them if it lacks keys of `base`."""
    given = compose_config(f"{group}/{base}")
    for key in (group, *base.split("/")[:-1]):
        given = given[key]
    if set(given) - set(content):
        return dict(content)
    tuned = {key for key in content if any(name == f"{group}.{key}" for name in values)}
    return {key: value for key, value in content.items() if key in tuned or key not in given or given[key] != value}


def _bases(group: str, option: str) -> Iterator[str]:
    """`option` and all on which it builds: a file that replaces one of them cannot build on it."""
    yield option
    path = next((path for folder in search_folders() if (path := folder / group / f"{option}.yaml").is_file()), None)
    content = cast(Mapping[str, Any], OmegaConf.load(path)) if path else {}
    for entry in content.get("defaults", ()):
        if isinstance(entry, str) and entry != "_self_":
            yield from _bases(group, entry.partition("@")[0].removeprefix(f"/{group}/"))


def _difference(content: Mapping[str, Any], parent: Mapping[str, Any]) -> dict[str, Any]:
    """What `content` has and `parent` has not, or has otherwise."""
    found: dict[str, Any] = {}
    for key, value in content.items():
        if isinstance(value, Mapping) and isinstance(parent.get(key), Mapping):
            if inner := _difference(cast(Mapping[str, Any], value), parent[key]):
                found[key] = inner
        elif key not in parent or parent[key] != value:
            found[key] = value
    return found


def _file(group: str, name: str) -> Path:
    return Path(CONF) / group / f"{name}.yaml"


def _first_lines(group: str, name: str) -> str:
    return ("# @package _global_\n" if group == "experiment" else "") + _HEADER.format(name=name)


def _write(group: str, name: str, content: Mapping[str, Any], notes: Sequence[str]) -> Path:
    file = _file(group, name)
    head = _first_lines(group, name) + "".join(f"# {' '.join(note.split())}\n" for note in notes)
    write_atomically(file, head + OmegaConf.to_yaml(OmegaConf.create(dict(content))))
    return file
