"""Digest of the code that decides a result; parameter of the pipeline's stages and part of the names of run folders.

The code is read as text and never imported: the root modules, their imports, and the modules that registries name for
the configuration. Comments, docstrings, layout and the version of Python do not change the digest.
"""

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, cast

NOT_IN_DIGEST = "reads code and runs none of it"

Config = Mapping[str, Any]
"""A configuration with the groups `game`, `agent`, `network` and `opponents`, as in params.yaml."""

MARKER = "NOT_IN_DIGEST"
"""A module or package that assigns a reason to this name decides no result: it is not hashed or followed."""

GROUPS = {
    "GAMES": "game",
    "PLAYOUTS": "game",
    "ENDGAMES": "game",
    "OUTCOMES": "game",
    "LEARNERS": "agent",
    "NETWORKS": "network",
    "OPPONENTS": "opponents",
}
"""Registry → group of the configuration whose `name` selects an entry. Names of agents select from other registries.

A registry HEURISTICS_GAME counts for configurations of that game only.
"""

_PACKAGE = __name__.partition(".")[0]
_LENGTH = 16  # hexadecimal digits of a digest
_IGNORED = ("ctx", "kind", "type_comment", "type_ignores")  # fields that do not affect the result
_LOADS_POLICY = re.compile(r"/|^champion$|search")  # an agent with such a name may load a policy with any network


@dataclass(frozen=True)
class _Entry:
    """An entry of a registry: `code` and `module` count only if a configuration selects `key`."""

    registry: str
    key: str
    module: str
    code: str


@dataclass
class _Module:
    """Contents of one file."""

    code: list[str | _Entry] = field(default_factory=list[str | _Entry])
    imports: set[str] = field(default_factory=set[str])
    named: set[str] = field(default_factory=set[str])  # possible modules; {} stands for the name of the game
    reason: str = ""  # why it is not in the digest


class _Selection:
    """Selection of registry entries by configurations."""

    def __init__(self, configs: Sequence[Config]) -> None:
        self.words = frozenset(word for config in configs for word in _words(config))
        self.games = {str(config["game"]["name"]) for config in configs if "game" in config}
        self._names: dict[str, set[str]] = {}
        for group in GROUPS.values():
            if all(group in config for config in configs):
                self._names[group] = {str(config[group]["name"]) for config in configs}
        if any(_LOADS_POLICY.search(word) for word in self.words):
            self._names.pop("network", None)

    def includes(self, entry: _Entry) -> bool:
        """Whether a configuration selects the entry; groups that no configuration has select all entries."""
        group = GROUPS.get(entry.registry)
        if group is None:
            prefix, _, game = entry.registry.partition("_")
            of_other_game = prefix == "HEURISTICS" and game.lower() not in self.games
            return entry.key in self.words and not of_other_game
        return group not in self._names or entry.key in self._names[group]

    def text(self, part: str | _Entry) -> str:
        """The code of a part of a module; empty for an entry that is not selected."""
        if isinstance(part, str):
            return part
        return part.code if self.includes(part) else ""


class Sources:
    """Sources of the package in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._modules: dict[Path, _Module] = {}
        self._paths: dict[str, Path | None] = {}

    def modules(self, roots: Iterable[str | Path], configs: Sequence[Config]) -> dict[str, Path]:
        """Module → file, for `roots` (modules, or paths of scripts) and all their imports.

        Raises ValueError for a module of the package that does not exist.
        """
        selection, found = _Selection(configs), dict[str, Path]()
        pending = [(root.name, root) if isinstance(root, Path) else (root, self._existing(root)) for root in roots]
        while pending:
            name, path = pending.pop()
            if name not in found:
                found[name] = path
                names = set(self._imported(path, selection)) - found.keys()
                pending += [(other, self._existing(other)) for other in names if not self.reason(other)]
        return found

    def digest(self, roots: Iterable[str | Path], configs: Sequence[Config]) -> str:
        """Hash of the code of `modules(roots, configs)` and of the data files in their packages."""
        selection, digest = _Selection(configs), hashlib.sha256()
        for name, path in sorted(self.modules(roots, configs).items()):
            texts = (selection.text(part) for part in self._read(path).code)
            digest.update(f"{name}\0{''.join(texts)}\0".encode())
            if path.name == "__init__.py" and name != _PACKAGE:
                for file in _data_files(path.parent):
                    digest.update(f"{file.relative_to(path.parent).as_posix()}\0".encode() + _content(file))
        return digest.hexdigest()[:_LENGTH]

    def reason(self, name: str) -> str:
        """Why a module, or a package that contains it, is not in the digest; empty if it is."""
        parts = name.split(".")
        enclosing = (self._path(".".join(parts[:length])) for length in range(1, len(parts) + 1))
        return next((reason for path in enclosing if path and (reason := self._read(path).reason)), "")

    def _imported(self, path: Path, selection: _Selection) -> Iterator[str]:
        """Modules that the file imports, each after the packages that contain it."""
        module = self._read(path)
        named = {part.module for part in module.code if isinstance(part, _Entry) and selection.includes(part)}
        for name in module.named:
            named |= {name.replace("{}", game) for game in selection.games} if "{}" in name else {name}
        for name in module.imports | {name for name in named if self._path(name)}:
            parts = name.split(".")
            yield from (".".join(parts[:length]) for length in range(1, len(parts) + 1))

    def _existing(self, name: str) -> Path:
        path = self._path(name)
        if path is None:
            raise ValueError(f"{name}: no such module in {self.folder}")
        return path

    def _path(self, name: str) -> Path | None:
        if name not in self._paths:
            path = self.folder.joinpath(*name.split("."))
            files = (path / "__init__.py", path.with_suffix(".py"))
            self._paths[name] = next((file for file in files if file.is_file()), None)
        return self._paths[name]

    def _read(self, path: Path) -> _Module:
        if path not in self._modules:
            self._modules[path] = _read(path.read_bytes())
        return self._modules[path]


class _Reader:
    """Writes the syntax tree of one file as text, and collects the modules that it names."""

    def __init__(self) -> None:
        self.module = _Module()

    def read(self, node: Any, registry: str = "") -> None:
        """Add a node, a list or a value; `registry` is the name that a dictionary is assigned to."""
        write = self.module.code.append
        if isinstance(node, list):
            for entry in cast(list[Any], node):
                self.read(entry)
        elif not isinstance(node, ast.AST):
            write(f"{node!a},")
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            self.read(node.orelse)
        elif isinstance(node, ast.Dict):
            self._read_dictionary(node, registry)
        elif not (isinstance(node, ast.Expr) and _is_text(node.value)):  # a docstring
            self._collect_names(node)
            write(f"{type(node).__name__}(")
            target = _target(node)
            if target == MARKER and isinstance(node, ast.Assign):
                self.module.reason = str(ast.literal_eval(node.value))
            for name, value in ast.iter_fields(node):
                if name not in _IGNORED and value is not None and value != []:
                    write(f"{name}=")
                    self.read(_joined(value) if isinstance(node, ast.JoinedStr) else value, target)
            write(")")

    def _read_dictionary(self, node: ast.Dict, registry: str) -> None:
        self.module.code.append("Dict(")
        for key, value in zip(node.keys, node.values, strict=True):
            module = _named_module(value)
            if registry and module and isinstance(key, ast.Constant) and isinstance(key.value, str):
                code = f"{key.value!a}:{ast.literal_eval(value)!a},"
                self.module.code.append(_Entry(registry, key.value, module, code))
            else:
                self.read(key)
                self.read(value)
        self.module.code.append(")")

    def _collect_names(self, node: ast.AST) -> None:
        """Collect the modules that an import, a string or an f-string names."""
        imports, named = self.module.imports, self.module.named
        if isinstance(node, ast.Import):
            imports |= {alias.name for alias in node.names if _is_own(alias.name)}
        elif isinstance(node, ast.ImportFrom) and _is_own(node.module or ""):
            imports.add(str(node.module))
            named |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.JoinedStr):
            name = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            named |= {name} if _is_own(name) and name.count("{}") == 1 else set()
        elif name := _named_module(node):
            named.add(name)


@cache
def _read(source: bytes) -> _Module:
    reader = _Reader()
    reader.read(ast.parse(source))
    module, code = reader.module, list[str | _Entry]()
    for is_text, parts in groupby(module.code, lambda part: isinstance(part, str)):
        code += ["".join(cast(Iterator[str], parts))] if is_text else parts  # noqa: B031 - each group is read once
    return replace(module, code=code)


_OWN_SOURCES = Sources(Path(__file__).parents[__name__.count(".")])


def code_digest(roots: Iterable[str | Path], *configs: Config) -> str:
    """Digest of the code of this package that `roots` use with `configs`."""
    return _OWN_SOURCES.digest(roots, configs)


def _is_own(name: str) -> bool:
    return name == _PACKAGE or name.startswith(f"{_PACKAGE}.")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _named_module(node: ast.AST) -> str:
    """The module in a string `package.module` or `package.module:Name`; empty for other nodes."""
    name = str(node.value).partition(":")[0] if isinstance(node, ast.Constant) and _is_text(node) else ""
    return name if _is_own(name) and re.fullmatch(r"\w+(\.\w+)*", name) else ""


def _target(node: ast.AST) -> str:
    """The name that an assignment gives to its value."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.id if isinstance(target, ast.Name) and isinstance(node, ast.Assign | ast.AnnAssign) else ""


def _joined(values: Any) -> Any:
    """The parts of an f-string with adjacent strings joined and none empty, since versions of Python differ in this."""
    joined: list[Any] = []
    for value in values:
        if _is_text(value) and not value.value:
            continue
        if joined and _is_text(value) and _is_text(joined[-1]):
            joined[-1] = ast.Constant(joined[-1].value + value.value)
        else:
            joined.append(value)
    return joined


def _words(value: object) -> Iterator[str]:
    """All keys and strings of a configuration, split into the parts of agents' names."""
    if isinstance(value, Mapping):
        for key, entry in cast(Mapping[object, object], value).items():
            yield from _words(key)
            yield from _words(entry)
    elif isinstance(value, list | tuple):
        for entry in cast(Sequence[object], value):
            yield from _words(entry)
    elif isinstance(value, str):
        yield from re.split(r"[:\[\]]", value)


def _data_files(package: Path) -> list[Path]:
    """Files of a package that are not code, without those of packages in it."""
    found: list[Path] = []
    for path in sorted(package.iterdir()):
        if path.is_dir() and not (path / "__init__.py").exists() and path.name[0] not in "._":
            found += _data_files(path)
        elif path.is_file() and path.suffix != ".py" and path.name[0] != ".":
            found.append(path)
    return found


def _content(file: Path) -> bytes:
    """The bytes of a file; texts with Unix line ends."""
    content = file.read_bytes()
    return content if b"\0" in content else content.replace(b"\r\n", b"\n")
