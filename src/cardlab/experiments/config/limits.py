"""Limits of configurations: files, overrides, and what anchors and interpolations expand to."""

import codecs
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

import yaml
from omegaconf import DictConfig, OmegaConf

from cardlab.core.messages import InvalidConfiguration, shortened

_MAX_BYTES = 1_000_000  # of a file
_MAX_OVERRIDES = 1000
_LONGEST_KEY = 250  # characters: Hydra looks for a file of this name
_MAX_NODES = 100_000  # of a file whose aliases are expanded
_MAX_CHARACTERS = 1_000_000  # of a configuration whose interpolations are expanded
_ALIAS = re.compile(rb"(^|[\s\[,{:-])\*\w")
_INTERPOLATION = re.compile(r"\$\{(\.*)([^${}:]+)\}")


def check_overrides(overrides: Sequence[str]) -> None:
    """Raise InvalidConfiguration for more overrides than Hydra composes in seconds."""
    if len(overrides) > _MAX_OVERRIDES:
        raise InvalidConfiguration(f"{len(overrides):,} overrides: must be at most {_MAX_OVERRIDES:,}; use a file")
    for text in overrides:
        if (length := len(text.partition("=")[0])) > _LONGEST_KEY:
            raise InvalidConfiguration(f"{shortened(text)}: its key has {length:,} characters, at most {_LONGEST_KEY}")


def check_files(folders: Iterable[Path]) -> None:
    """Raise InvalidConfiguration for a YAML file that is too large, or that begins with a byte order mark."""
    for folder in folders:
        for path in sorted(folder.rglob("*.yaml")):
            if path.is_file():
                stat = path.stat()
                _check_file(path, stat.st_size, stat.st_mtime_ns)


@cache
def _check_file(path: Path, size: int, _: int) -> None:
    content, problem = path.read_bytes() if size <= _MAX_BYTES else b"", ""
    if size > _MAX_BYTES:
        problem = f"has {size:,} bytes; must be at most {_MAX_BYTES:,}"
    elif content.startswith(codecs.BOM_UTF8):
        problem = "begins with a byte order mark; save it as UTF-8 without one"
    elif _ALIAS.search(content) and _expanded_nodes(content) > _MAX_NODES:
        problem = f"its aliases (*name) expand to more than {_MAX_NODES:,} entries"
    if problem:
        raise InvalidConfiguration(f"{path}: {problem}")


def _expanded_nodes(content: bytes) -> int:
    """The nodes of a YAML text when each alias is replaced by what it names; 0 if the text cannot be read."""
    counts: dict[int, int] = {}

    def count(node: Any) -> int:
        if id(node) not in counts:
            counts[id(node)] = 0  # of an alias inside its own anchor
            inner: list[Any] = [] if isinstance(node.value, str) else node.value
            children = [part for entry in inner for part in (entry if isinstance(entry, tuple) else (entry,))]
            counts[id(node)] = 1 + sum(map(count, children))
        return counts[id(node)]

    try:
        root = yaml.compose(content)
        return count(root) if root is not None else 0
    except (yaml.YAMLError, RecursionError, UnicodeDecodeError):
        return 0  # reported when the file is composed


def check_interpolations(tree: DictConfig) -> None:
    """Raise InvalidConfiguration if `tree` is too large when each ${…} is replaced by what it refers to."""
    content = OmegaConf.to_container(tree, resolve=False)
    sizes: dict[tuple[Any, ...], int] = {}

    def size(path: tuple[Any, ...]) -> int:
        if path not in sizes:
            sizes[path] = 0  # of a reference to itself, which OmegaConf reports
            value = _value_at(content, path)
            if isinstance(value, Mapping):
                sizes[path] = sum(size((*path, key)) for key in cast(Mapping[Any, Any], value))
            elif isinstance(value, list):
                sizes[path] = sum(size((*path, place)) for place in range(len(cast(list[Any], value))))
            else:
                found = _INTERPOLATION.findall(value) if isinstance(value, str) else []
                sizes[path] = len(str(value)) + sum(size(_target(path, *each)) for each in found)
        return sizes[path]

    try:
        total = size(())
    except RecursionError as error:
        raise InvalidConfiguration("the configuration: its interpolations (${…}) are nested too deep") from error
    if total > _MAX_CHARACTERS:
        key = max((path for path in sizes if sizes[path] > _MAX_CHARACTERS), key=len)
        shown = ".".join(map(str, key)) or "the configuration"
        raise InvalidConfiguration(f"{shown}: its interpolations expand to more than {_MAX_CHARACTERS:,} characters")


def _target(path: tuple[Any, ...], dots: str, key: str) -> tuple[Any, ...]:
    """What an interpolation at `path` refers to: an absolute key, or one relative to as many parents as it has dots."""
    start = path[: len(path) - len(dots)] if dots else ()
    names = [name for name in re.split(r"[.\[\]]+", key.strip()) if name]
    return (*start, *(int(name) if name.isdigit() else name for name in names))


def _value_at(content: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        try:
            content = content[key]
        except (KeyError, IndexError, TypeError):
            return None
    return content
