"""Parts named by `_target_`: how the class of a game, agent, network, opponents or search is found and imported.

A part is a file conf/GROUP/NAME.yaml with `_target_: package.module.Class` and options of that class. The project's
files come before those that cardlab ships. `name` is a word for people: where it is left out, the file's name.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from inspect import Parameter, signature
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, cast

import yaml

from cardlab.core.files import read_text
from cardlab.core.messages import ConfigurationError, InvalidOption

TARGET, NAME = "_target_", "name"
GROUPS = ("game", "agent", "network", "opponents", "search")
"""The groups whose files name a class."""
_NEEDED = {  # what the object of each group must have, so that its use fails in one line
    "game": ("spec", "deal", "apply"),
    "agent": ("build",),
    "network": ("check", "build"),
    "opponents": ("build",),
    "search": (),
}
CONF = "conf"
PLUGINS = f"{__name__.partition('.')[0]}.plugins"
"""Entry points whose packages are trusted in files from elsewhere."""

_PACKAGE = Path(__file__).parents[1]
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


class _Loader(yaml.SafeLoader):
    """YAML whose numbers may be written 1e-3, as in Hydra."""


_Loader.add_implicit_resolver(  # pyright: ignore[reportUnknownMemberType]
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def shipped_folder() -> Path:
    """The configuration of cardlab: beside the code in a wheel, at the root in a checkout."""
    inside = _PACKAGE / CONF
    return inside if inside.is_dir() else _PACKAGE.parents[1] / CONF


def project_folder() -> Path | None:
    """The project: the nearest parent of the working directory, itself included, that has conf/; None without one."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / CONF).is_dir()), None)


def conf_folders() -> list[Path]:
    """The project's conf/, unless it is the shipped one, and the shipped one."""
    project, shipped = project_folder(), shipped_folder()
    own = [project / CONF] if project and (project / CONF).resolve() != shipped.resolve() else []
    return [*own, shipped]


def project_code() -> Path | None:
    """The folder of the project's code: its src/, else its root."""
    project = project_folder()
    return project / "src" if project is not None and (project / "src").is_dir() else project


def add_project_to_path() -> None:
    """Append the project's code to the import path: behind all else, so that it shadows nothing."""
    folder = project_code()
    if folder is not None and str(folder) not in sys.path:
        sys.path.append(str(folder))


def find_object(key: str, target: object) -> Any:
    """The object at `target`, package.module.Name, imported; InvalidOption under `key` when there is none."""
    if not isinstance(target, str) or not is_dotted(target):
        raise InvalidOption(key, "(left out)" if target is None else target, "a class, as in package.module.Class")
    add_project_to_path()
    try:
        return resolve_name(target)
    except (ImportError, AttributeError, SyntaxError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise InvalidOption(key, target, f"a class that can be imported ({reason})") from error


def target_of(thing: object) -> str:
    """The `_target_` of a class, or of the class of an object."""
    found = thing if isinstance(thing, type) else type(thing)
    return f"{found.__module__}.{found.__qualname__}"


def is_dotted(text: str) -> bool:
    """Whether `text` has the form package.module.Name."""
    return _DOTTED.fullmatch(text) is not None


def find_place(owner: object, place: str) -> Any:
    """The object or module at `place`, such as `.agents:Greedy`, relative to the package of the module `owner`.

    `owner` is a module's name, or a class or object of it. `:Name` is in that module itself.
    """
    module = owner if isinstance(owner, str) else (owner if isinstance(owner, type) else type(owner)).__module__
    where, _, name = place.partition(":")
    package = module.rpartition(".")[0]
    found = import_module(where if package else where.lstrip("."), package or None) if where else sys.modules[module]
    return getattr(found, name) if name else found


def build_part(group: str, data: Mapping[str, Any]) -> Any:
    """The object of one composed group: an instance of its `_target_` with the other keys as options.

    Raises InvalidOption for a class that cannot be imported, and for wrong options.
    """
    if TARGET not in data and (near := get_close_matches(TARGET, [str(key) for key in data], n=1, cutoff=0.7)):
        raise InvalidOption(f"{group}.{near[0]}", data[near[0]], f"written {TARGET}")
    key, target = f"{group}.{TARGET}", data.get(TARGET)
    part = find_object(key, target)
    given = {str(key): value for key, value in data.items() if key not in (TARGET, NAME)}
    try:
        made = part(**given)
    except TypeError as error:
        raise InvalidOption(key, target, f"the class of options, which takes these keys ({error})") from error
    if lacking := [name for name in _NEEDED[group] if not hasattr(made, name)]:
        raise InvalidOption(key, target, f"a class with {lacking[0]}, as the group {group} needs")
    return made


def option_names(group: str) -> list[str]:
    """The options of a group: those without a folder first, then FOLDER/NAME."""
    found = {
        path.relative_to(folder / group).with_suffix("").as_posix()
        for folder in conf_folders()
        for path in (folder / group).rglob("*.yaml")
    }
    return sorted(found, key=lambda name: ("/" in name, name))


def read_option(group: str, name: object) -> dict[str, Any]:
    """The content of conf/GROUP/NAME.yaml with its `name`, merged with the files of its group that it builds on.

    Raises InvalidOption when there is no such file.
    """
    known = option_names(group)
    if name not in known:
        near = get_close_matches(str(name), known, n=1, cutoff=0.65)
        advice = f" (did you mean {near[0]}?)" if near else ""
        raise InvalidOption(group, name, f"one of {', '.join(entry for entry in known if '/' not in entry)}{advice}")
    data = _read_file(next(path for folder in conf_folders() if (path := folder / group / f"{name}.yaml").is_file()))
    return {**read_inherited(group, data), NAME: str(name).rpartition("/")[2], **data}


def own_files() -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """Group, path and content of each file of the project that names a class, without the shipped ones."""
    for folder in conf_folders()[:-1]:
        for group in GROUPS:
            for path in sorted((folder / group).rglob("*.yaml")):
                data = _read_file(path)
                if TARGET in data:
                    yield group, path, data


def read_inherited(group: str, data: dict[str, Any]) -> dict[str, Any]:
    """The content of the files of `group` in the defaults list of `data`, which is removed; later files win."""
    merged: dict[str, Any] = {}
    for entry in map(str, data.pop("defaults", ())):
        if entry != "_self_":
            merged |= read_option(group, entry.partition("@")[0].removeprefix(f"/{group}/"))
    return merged


def _read_file(path: Path) -> dict[str, Any]:
    try:
        data = yaml.load(read_text(path), _Loader)  # noqa: S506 - a SafeLoader
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigurationError(f"{path}: cannot be read ({str(error).splitlines()[0]})") from error
    return cast(dict[str, Any], data) if isinstance(data, dict) else {}


def option_defaults(part: Any) -> dict[str, Any]:
    """Option → default, as plain data, of a class: of its dataclass fields, or of the parameters of its constructor."""
    if is_dataclass(part):
        values = {
            entry.name: entry.default_factory() if entry.default_factory is not MISSING else entry.default
            for entry in fields(part)
            if entry.init
        }
    else:
        values = {name: each.default for name, each in signature(part).parameters.items()}
    return {key: _plain(value) for key, value in values.items() if value not in (MISSING, Parameter.empty)}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in cast(Mapping[Any, Any], value).items()}
    return [_plain(entry) for entry in cast(Sequence[Any], value)] if isinstance(value, list | tuple) else value


# Trust. Code that the command line or conf/ names is the user's own. Names that come from elsewhere are checked first.


def check_targets(data: object, origin: str) -> None:
    """Raise ConfigurationError for code that `data` names and that is not trusted; imports nothing that is not.

    `data` comes from elsewhere: a policy's folder, a record, a store, a study. Trusted is what is in cardlab, named by
    a file of the project's conf/, or below the package of an entry point `cardlab.plugins`.
    """
    for target in _named_code(data):
        if not _is_trusted(target):
            advice = f"write it in a file of {CONF}/, or install its package with an entry point {PLUGINS}"
            raise ConfigurationError(f"{origin}: names the code {target}, which is not trusted; to trust it, {advice}")


def _named_code(data: object) -> Iterator[str]:
    """Each `_target_`, and each dotted name of an agent, in nested data."""
    if isinstance(data, Mapping):
        for key, value in cast(Mapping[Any, Any], data).items():
            if key == TARGET:
                yield str(value)
            elif key != NAME:
                yield from _named_code(key)
                yield from _named_code(value)
    elif isinstance(data, list | tuple):
        for value in cast(Sequence[Any], data):
            yield from _named_code(value)
    elif isinstance(data, str) and not Path(data).exists():
        yield from filter(is_dotted, re.split(r"[:\[\]]", data))


def _is_trusted(target: str) -> bool:
    if target.partition(".")[0] == __name__.partition(".")[0]:
        return _is_shipped(target)
    packages = [entry.value.partition(":")[0] for entry in entry_points(group=PLUGINS)]
    if any(target.startswith(f"{package}.") for package in packages):
        return True
    named = set(_project_code(project_folder()))
    return target in named or any(_is_alias(other, target) for other in named)


def _is_shipped(target: str) -> bool:
    """Whether a module of cardlab defines `target`; what a module only imports, such as its `os`, is not meant."""
    module, _, name = target.partition(".")[2].rpartition(".")
    path = _PACKAGE.joinpath(*module.split("."))
    file = next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)
    defined = rf"^(class |def )?{name}\b(?! import)"
    return file is not None and re.search(defined, file.read_text(encoding="utf-8"), re.MULTILINE) is not None


def _project_code(project: Path | None) -> Iterator[str]:
    for path in sorted((project / CONF).rglob("*.yaml")) if project else ():
        stat = path.stat()
        yield from _code_of_file(path, stat.st_size, stat.st_mtime_ns)


@cache
def _code_of_file(path: Path, size: int, changed: int) -> list[str]:  # noqa: ARG001 - a changed file is read again
    try:
        return [*_named_code(_read_file(path))]
    except ConfigurationError:
        return []  # reported when it is composed


def _is_alias(named: str, target: str) -> bool:
    """Whether the trusted name `named` is another name of the class `target`, as after an import in __init__.py."""
    if named.rpartition(".")[2] != target.rpartition(".")[2] or named.partition(".")[0] != target.partition(".")[0]:
        return False
    try:
        return target_of(find_object(TARGET, named)) == target
    except InvalidOption:
        return False
