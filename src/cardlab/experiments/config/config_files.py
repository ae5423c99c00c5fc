"""Files of one's own on which Hydra fails without naming them: no UTF-8, too deep, or defaults that lead back."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import yaml

from cardlab.experiments.config.options import InvalidConfiguration

_PREFIXES = ("override ", "optional ")  # of entries in a defaults list


def unreadable(folders: Sequence[Path], own: Path | None) -> InvalidConfiguration | None:
    """What to raise for the first file of the folder `own` that cannot be read; `folders` are all that are searched."""
    sound: set[Path] = set()
    for path in sorted(own.rglob("*.yaml")) if own else ():
        try:
            loop = _loop(path, folders, (), sound)
        except UnicodeDecodeError:
            return InvalidConfiguration(f"{path}: is not text in UTF-8")
        except RecursionError:
            return InvalidConfiguration(f"{path}: is nested too deep")
        if loop:
            return InvalidConfiguration(f"{path}: its defaults lead back to {loop}")
    return None


def _loop(path: Path, folders: Sequence[Path], above: tuple[Path, ...], sound: set[Path]) -> Path | None:
    """The file to which the defaults of `path`, or of those that it names, lead back."""
    if path in above:
        return path
    if path in sound:
        return None
    for target in _targets(path, folders):
        if loop := _loop(target, folders, (*above, path), sound):
            return loop
    sound.add(path)
    return None


def _targets(path: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """The files that the defaults list of `path` names."""
    try:
        content: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError):
        return  # it has a message of its own when it is composed
    entries = cast(Mapping[str, Any], content).get("defaults") if isinstance(content, Mapping) else None
    root = next(folder for folder in folders if path.is_relative_to(folder))
    group = path.relative_to(root).parent
    for entry in cast(list[Any], entries) if isinstance(entries, list) else ():
        for name in _names(entry):
            place = Path(name[1:]) if name.startswith("/") else group / name
            files = (folder / place.with_name(f"{place.name}.yaml") for folder in folders if place.name)
            if (found := next((file for file in files if file.is_file()), None)) is not None:
                yield found


def _names(entry: object) -> Iterator[str]:
    """The options that an entry of a defaults list loads, as GROUP/OPTION."""
    pairs: list[tuple[object, object]] = [(entry, "")]
    if isinstance(entry, Mapping):
        pairs = list(cast(Mapping[object, object], entry).items())
    for key, options in pairs:
        group = str(key).partition("@")[0]
        for prefix in _PREFIXES:
            group = group.removeprefix(prefix)
        for option in cast(list[object], options) if isinstance(options, list) else [options]:
            yield f"{group}/{option}".removesuffix("/")
