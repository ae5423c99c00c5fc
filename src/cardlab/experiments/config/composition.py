"""Composition with Hydra: the name of a configuration and overrides give plain data, or an error of one line."""

import re
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import accumulate
from pathlib import Path
from typing import Any, cast

import yaml
from hydra import compose, initialize_config_dir
from hydra import main as hydra_main
from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_search_path import ConfigSearchPath, SearchPathElement
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.errors import HydraException
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from cardlab.core.messages import ConfigurationError, InvalidConfiguration, InvalidOption, combined, left_out
from cardlab.core.parts import conf_folders, shipped_folder
from cardlab.experiments.config.error_lines import (
    REFUSALS,
    accepted_options,
    explain,
    explain_value,
    group_names,
    group_options,
    key_of,
    one_line,
)
from cardlab.experiments.config.part_source import PartSource
from cardlab.experiments.config.seed_options import experiment_part

VERSION_BASE = "1.3"
_OPEN = {"sweep": ("sweep.space.", "sweep.space="), "play": ("play.belief", "play.searches")}
"""Verb → prefixes of keys below which any name is accepted; Hydra would accept only those that exist."""
_config_dir: ContextVar[Path | None] = ContextVar("_config_dir", default=None)


class OwnFolderFirst(SearchPathPlugin):
    """Searches the user's own folders and then the shipped one, where Hydra was given one of them.

    DVC gives it the project's; other Hydra programs in the process are not affected.
    """

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Hydra calls this for every search path."""
        folders, entries = search_folders(), search_path.get_path()
        for place, entry in enumerate(entries):
            if entry.path.removeprefix("file://") in map(str, folders):
                paths = [f"{PartSource.scheme()}://{folder}" for folder in folders]
                own = [SearchPathElement("own", path) for path in paths[:-1]]
                entries[place : place + 1] = [*own, SearchPathElement(entry.provider, paths[-1])]
                return


def search_folders() -> list[Path]:
    """The folders of configurations, in the order of the search: --config-dir, the project's conf/, the shipped one."""
    given = _config_dir.get()
    return [*([given] if given else []), *conf_folders()]


def use_config_dir(folder: str | None) -> None:
    """Search `folder` first, or no such folder; InvalidConfiguration if it is none."""
    if folder is not None and not Path(folder).is_dir():
        allowed = "a folder that holds groups, such as agent/ or experiment/"
        raise InvalidConfiguration(f"--config-dir={folder}: must be {allowed}")
    _config_dir.set(None if folder is None else Path(folder).resolve())


def register_search_path() -> None:
    """Add the user's own folder to Hydra's search path; called before anything is composed."""
    Plugins.instance().register(PartSource)
    Plugins.instance().register(OwnFolderFirst)


@contextmanager
def initialised_hydra() -> Generator[None]:
    """Initialise Hydra with the user's own folder and the shipped one."""
    register_search_path()
    with initialize_config_dir(str(shipped_folder()), version_base=VERSION_BASE, job_name="cardlab"):
        yield


def compose_config(name: str, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The configuration `name` with these overrides, resolved, as plain data in the order of its files.

    Raises InvalidOption or InvalidConfiguration, in one line.
    """
    return plain(compose_tree(name, overrides))


def compose_experiment(overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The configuration of one experiment: conf/train.yaml without the keys of the command."""
    return experiment_part(compose_config("train", overrides))


def compose_tree(name: str, overrides: Sequence[str] = (), *, with_hydra: bool = False) -> DictConfig:
    """The configuration `name` with unresolved interpolations; `with_hydra` keeps Hydra's own node."""
    _check_experiment(overrides)
    entries = [text for text in overrides if text.startswith(_OPEN.get(name, ()))]
    with initialised_hydra():
        try:
            tree = compose(name, [text for text in overrides if text not in entries], return_hydra_config=with_hydra)
            for text in entries:
                _replace_entry(tree, text)
        except ConfigurationError:  # of a part, in one line
            raise
        except (RecursionError, UnicodeDecodeError, yaml.YAMLError) as error:  # the last names the file and the place
            raise _unreadable_file() or InvalidConfiguration(one_line(error)) from error
        except (TypeError, *REFUSALS) as error:  # a TypeError for an option that is no text, as in agent=[1]
            errors = _missing_option(error) or explain(error, name, overrides, entries)
        else:
            _check_game(overrides)
            _check_deletions(overrides)
            return tree
    raise combined(errors)


def plain(tree: DictConfig) -> dict[str, Any]:
    """The data of `tree`, resolved; InvalidOption for a missing value, or one that refers to nothing."""
    try:
        return cast(dict[str, Any], OmegaConf.to_container(tree, resolve=True, throw_on_missing=True))
    except (OmegaConfBaseException, RecursionError) as error:
        if "RecursionError" in repr(error):  # OmegaConf repeats the name in its own exception
            raise InvalidConfiguration("the configuration: its interpolations (${…}) are nested too deep") from error
        raise explain_value(cast(OmegaConfBaseException, error)) from error


def _check_experiment(overrides: Sequence[str]) -> None:
    """Raise InvalidConfiguration for a file of an experiment without `@package _global_`, or with seeds.

    Only the benchmark reads seeds there.
    """
    given = _given(overrides)
    name = given.get("experiment", "")
    path = next(filter(Path.is_file, (folder / "experiment" / f"{name}.yaml" for folder in search_folders())), None)
    if path is None:
        return
    text, found = "", dict[str, Any]()
    with suppress(OSError, ValueError, AttributeError, RecursionError, yaml.YAMLError):  # reported when composed
        text = path.read_text(encoding="utf-8")
        values = yaml.safe_load(text) or {}
        found = {key: values[key] for key in ("seed", "seeds") if key in values}
    if text and ("@package" not in text or text.startswith("\ufeff")):
        line = "the line `# @package _global_`, as all experiments do, without a byte order mark"
        raise InvalidConfiguration(f"{path}: must begin with {line}")
    for key, value in found.items():
        if value != f"${{{key}}}" and key not in given:
            where = f"{path}: its {key}={value} counts in the benchmark only"
            raise InvalidConfiguration(f"{where}; add {key}=… to the command")


def _check_game(overrides: Sequence[str]) -> None:
    """Raise InvalidOption for another game than that of the given experiment, whose options it would not have."""
    given = _given(overrides)
    name, game = given.get("experiment", ""), given.get("game", "")
    own_game = name.partition("/")[0]
    if game != own_game and {game, own_game} <= set(group_options("game")):
        allowed = f"left out, or {own_game}, the game of experiment={name}; experiment={game}/… has recipes"
        raise InvalidOption("game", game, allowed)


def _given(overrides: Sequence[str]) -> dict[str, str]:
    """Key → text of the value."""
    return {key: value for key, _, value in (text.partition("=") for text in overrides)}


def _check_deletions(overrides: Sequence[str]) -> None:
    """Raise InvalidOption for an option that `~GROUP.OPTION` removes: its value would be known to no run."""
    for text in overrides:
        group, _, option = key_of(text).partition(".")
        if text.startswith("~") and option and "." not in option and group in group_names():
            raise left_out(f"{group}.{option}", f"given; {group}.{option}=VALUE sets it")


def _replace_entry(tree: DictConfig, text: str) -> None:
    """Replace an entry such as sweep.space.KEY={…}: Hydra would merge it, or refuse a new key.

    Below a list, as in sweep.space.agent=[ppo,dqn], the list becomes the `choices` beside the entry.
    """
    override = OverridesParser.create().parse_override(text)
    *parents, _ = accumulate(override.key_or_group.split("."), "{}.{}".format)
    for parent in parents:
        if OmegaConf.is_list(node := OmegaConf.select(tree, parent)):
            OmegaConf.update(tree, parent, {"choices": node}, merge=False)
    OmegaConf.update(tree, override.key_or_group, override.value(), merge=False, force_add=True)


def tree_text(tree: DictConfig, *, package: str | None = None, resolve: bool = False) -> str:
    """`tree` as YAML, or its part at the key `package`."""
    node = OmegaConf.select(tree, package) if package else tree
    if not OmegaConf.is_config(node):
        content = cast(dict[str, Any], OmegaConf.to_container(tree, resolve=False))
        nodes = [key for key, value in content.items() if isinstance(value, dict | list)]
        raise InvalidOption("--package", package, f"one of {', '.join(nodes)}")
    try:
        return OmegaConf.to_yaml(node, resolve=resolve)
    except OmegaConfBaseException as error:
        raise explain_value(error) from error


def run_hydra(config_name: str, arguments: Sequence[str]) -> None:
    """Run Hydra's own program with `arguments`: --info, --cfg hydra, --shell-completion."""
    register_search_path()
    before = sys.argv
    sys.argv = [before[0], *(text for text in arguments if not text.startswith(_OPEN.get(config_name, ())))]
    try:
        program = hydra_main(config_path=str(shipped_folder()), config_name=config_name, version_base=VERSION_BASE)
        program(lambda _: None)()  # the task, which these arguments never start
    finally:
        sys.argv = before


def split_multirun(overrides: Sequence[str]) -> list[list[str]]:
    """The overrides of each combination of the values in KEY=A,B and KEY=choice(…), in Hydra's grammar."""
    try:
        (combinations,) = BasicSweeper.split_arguments(OverridesParser.create().parse_overrides([*overrides]), None)
    except HydraException as error:
        raise InvalidConfiguration(" ".join(str(error).split())) from error
    return combinations


def _missing_option(error: Exception) -> list[ConfigurationError]:
    """The error for an option that the defaults of a user's file name and no group has; none for other errors."""
    found = re.search(r"Could not (?:find|load) '(\w+)/([^']+)'", str(error))
    files = [path for folder in search_folders()[:-1] for path in sorted(folder.rglob("*.yaml"))]
    if found is None or found[1] not in group_names():
        return []
    group, option = found.groups()
    named = re.compile(rf"[:/ \[]{re.escape(option)}(@\w+)?\s*([,\]]|$)", re.MULTILINE)
    for path in files:
        with suppress(OSError, UnicodeDecodeError):
            if named.search(path.read_text(encoding="utf-8")):
                refusal = InvalidOption(group, option, accepted_options(option, group_options(group)))
                return [InvalidConfiguration(f"{path}: {refusal}")]
    return []


def _unreadable_file() -> InvalidConfiguration | None:
    """The error for the first of the user's files that Hydra cannot load: Hydra itself does not name it."""
    places = {path: folder for folder in search_folders()[:-1] for path in sorted(folder.rglob("*.yaml"))}
    for path, folder in places.items():
        problem = "is nested too deep"
        try:
            yaml.safe_load(path.read_text(encoding="utf-8"))
            problem = "its defaults lead back to it"
            compose(path.relative_to(folder).with_suffix("").as_posix())
        except (RecursionError, UnicodeDecodeError) as error:
            problem = problem if isinstance(error, RecursionError) else "is not text in UTF-8"
            return InvalidConfiguration(f"{path}: {problem}")
        except (OSError, yaml.YAMLError, *REFUSALS):
            continue  # reported when it is composed
    return None
