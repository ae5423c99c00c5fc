"""Digest of the code that decides a result: stages of the pipeline and folders of runs are named by it.

The code is read as text and never imported: the root modules, all that they import, and what registries name for the
configuration. Comments, docstrings and layout do not count; neither does the version of Python.
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

NOT_IN_DIGEST = "reads the code and runs none of it"

Config = Mapping[str, Any]
"""A configuration with the groups `game`, `agent`, `network`, `opponents`, as an entry of params.yaml has them."""

MARKER = "NOT_IN_DIGEST"
"""A module or package that assigns its reason to this name decides no result: it is neither hashed nor followed."""

GROUPS = {
    "GAMES": "game",
    "PLAYOUTS": "game",
    "ENDGAMES": "game",
    "OUTCOMES": "game",
    "LEARNERS": "agent",
    "NETWORKS": "network",
    "OPPONENTS": "opponents",
}
"""Registry → group of the configuration whose `name` chooses an entry. In other registries an agent's name does.

A registry HEURISTICS_GAME counts for configurations of this game only.
"""

_PACKAGE = __name__.partition(".")[0]
_LENGTH = 16  # hexadecimal digits of a digest
_IGNORED = ("ctx", "kind", "type_comment", "type_ignores")  # decide nothing
_LOADS_POLICY = re.compile(r"/|^champion$|search")  # an agent by this name may load a policy with any network


@dataclass(frozen=True)
class _Entry:
    """An entry of a registry: `code` and `module` count only where a configuration chooses `key`."""

    registry: str
    key: str
    module: str
    code: str


@dataclass
class _Module:
    """What one file contributes."""

    code: list[str | _Entry] = field(default_factory=list[str | _Entry])
    imports: set[str] = field(default_factory=set[str])
    named: set[str] = field(default_factory=set[str])  # may be modules; {} stands for the name of the game
    reason: str = ""  # for which it is not in the digest


class _Choice:
    """What configurations choose from registries."""

    def __init__(self, configs: Sequence[Config]) -> None:
        self.words = frozenset(word for config in configs for word in _words(config))
        self.games = {str(config["game"]["name"]) for config in configs if "game" in config}
        self._names: dict[str, set[str]] = {}
        for group in GROUPS.values():
            if all(group in config for config in configs):
                self._names[group] = {str(config[group]["name"]) for config in configs}
        if any(_LOADS_POLICY.search(word) for word in self.words):
            self._names.pop("network", None)

    def has(self, entry: _Entry) -> bool:
        """Whether a configuration chooses the entry; all entries count of a group that is not configured."""
        group = GROUPS.get(entry.registry)
        if group is None:
            prefix, _, game = entry.registry.partition("_")
            of_other_game = prefix == "HEURISTICS" and game.lower() not in self.games
            return entry.key in self.words and not of_other_game
        return group not in self._names or entry.key in self._names[group]


class Sources:
    """The package below `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._modules: dict[Path, _Module] = {}
        self._paths: dict[str, Path | None] = {}

    def modules(self, roots: Iterable[str | Path], configs: Sequence[Config]) -> dict[str, Path]:
        """Module → file, of all that counts: `roots` (modules, or paths of scripts) and what they import.

        ValueError for a root, or an imported module of the package, that does not exist.
        """
        choice, found = _Choice(configs), dict[str, Path]()
        waiting = [(root.name, root) if isinstance(root, Path) else (root, self._existing(root)) for root in roots]
        while waiting:
            name, path = waiting.pop()
            if name not in found:
                found[name] = path
                names = set(self._imported(path, choice)) - found.keys()
                waiting += [(other, self._existing(other)) for other in names if not self.reason(other)]
        return found

    def digest(self, roots: Iterable[str | Path], configs: Sequence[Config]) -> str:
        """Hash of the code of `modules(roots, configs)` and of the data files in their packages."""
        choice, digest = _Choice(configs), hashlib.sha256()
        for name, path in sorted(self.modules(roots, configs).items()):
            parts = self._read(path).code
            chosen = (part if isinstance(part, str) else part.code for part in parts if _counts(part, choice))
            digest.update(f"{name}\0{''.join(chosen)}\0".encode())
            if path.name == "__init__.py" and name != _PACKAGE:
                for file in _data_files(path.parent):
                    digest.update(f"{file.relative_to(path.parent).as_posix()}\0".encode() + _content(file))
        return digest.hexdigest()[:_LENGTH]

    def reason(self, name: str) -> str:
        """Why a module, or a package around it, is not in the digest; empty where it is."""
        parts = name.split(".")
        around = (self._path(".".join(parts[:length])) for length in range(1, len(parts) + 1))
        return next((reason for path in around if path and (reason := self._read(path).reason)), "")

    def _imported(self, path: Path, choice: _Choice) -> Iterator[str]:
        """Modules that the file imports, each after the packages around it."""
        module = self._read(path)
        named = {part.module for part in module.code if isinstance(part, _Entry) and choice.has(part)}
        for name in module.named:
            named |= {name.replace("{}", game) for game in choice.games} if "{}" in name else {name}
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
    """Writes the syntax tree of one file as text, and notes the modules that it names."""

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
        elif isinstance(node, ast.If) and _names_type_checking(node.test):
            self.read(node.orelse)
        elif isinstance(node, ast.Dict):
            self._read_dictionary(node, registry)
        elif not (isinstance(node, ast.Expr) and _is_text(node.value)):  # a docstring
            self._note(node)
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

    def _note(self, node: ast.AST) -> None:
        """Note the modules that an import, a text or an f-string names."""
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
    for are_texts, parts in groupby(module.code, lambda part: isinstance(part, str)):
        code += ["".join(cast(Iterator[str], parts))] if are_texts else parts  # noqa: B031  one of both
    return replace(module, code=code)


def code_digest(roots: Iterable[str | Path], *configs: Config) -> str:
    """Digest of the code of this package that `roots` use with `configs`."""
    return _own_sources().digest(roots, configs)


@cache
def _own_sources() -> Sources:
    return Sources(Path(__file__).parents[__name__.count(".")])


def _counts(part: str | _Entry, choice: _Choice) -> bool:
    return isinstance(part, str) or choice.has(part)


def _is_own(name: str) -> bool:
    return name == _PACKAGE or name.startswith(f"{_PACKAGE}.")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _named_module(node: ast.AST) -> str:
    """The module that the text `package.module` or `package.module:Name` names; empty for another node."""
    name = str(node.value).partition(":")[0] if isinstance(node, ast.Constant) and _is_text(node) else ""
    return name if _is_own(name) and re.fullmatch(r"\w+(\.\w+)*", name) else ""


def _names_type_checking(test: ast.expr) -> bool:
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"


def _target(node: ast.AST) -> str:
    """The name that an assignment gives to its value."""
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    return target.id if isinstance(target, ast.Name) and isinstance(node, ast.Assign | ast.AnnAssign) else ""


def _joined(values: Any) -> Any:
    """The parts of an f-string with neighbouring texts joined and no empty ones, where versions of Python differ."""
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
    """All keys and texts of a configuration, cut where the text of an agent has its parts."""
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
    """Files beside the code of a package, but those of packages in it."""
    found: list[Path] = []
    for path in sorted(package.iterdir()):
        if path.is_dir() and not (path / "__init__.py").exists() and path.name[0] not in "._":
            found += _data_files(path)
        elif path.is_file() and path.suffix != ".py" and path.name[0] != ".":
            found.append(path)
    return found


def _content(file: Path) -> bytes:
    """Its bytes, but a text's with one kind of line ends."""
    content = file.read_bytes()
    return content if b"\0" in content else content.replace(b"\r\n", b"\n")
