"""Digest of the code that decides a result; parameter of the pipeline's stages and part of the names of run folders.

The code is read as text: the root modules, what the configuration names (`_target_`s, agents, policies), and what these
import, in cardlab and in the user's project. A function, class or constant of cardlab counts when its name is used in
code that counts; a file of the project counts whole. Other packages count by version.
"""

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path

from cardlab.core.config_texts import CHAMPION, Config, config_texts
from cardlab.core.parts import TARGET, is_dotted
from cardlab.core.source_analysis import MARKER, Import, Module, Part, read_module, triggers

NOT_IN_DIGEST = "reads code and runs none of it"

_PACKAGE = __name__.partition(".")[0]
_LENGTH = 16  # hexadecimal digits of a digest
COMPUTING = ("torch", "numpy", "numba")  # their versions, which may change a result, are in checkpoints and runs


class Sources:
    """Sources of cardlab, in `folder`, and of the user's `project`, each file read once.

    `experiments`: those of the same params.yaml, whose policies are in models/NAME.
    """

    def __init__(
        self, folder: Path, project: Path | None = None, experiments: Mapping[str, Config] | None = None
    ) -> None:
        self.folder = folder
        self.project = project
        self.experiments = experiments or {}
        self.contents: dict[Path, bytes] = {}
        self._paths: dict[str, Path | None] = {}

    def modules(
        self, roots: Iterable[str | Path], configs: Sequence[Config], *, policies: bool = True
    ) -> dict[str, Path]:
        """Module → file, or folder of a package without `__init__.py`, for all that is used.

        `roots` are modules, or paths of scripts. Without `policies`, what only policies' descriptions name is left out.
        Raises ValueError for one that does not exist.
        """
        return _Search(self, roots, configs, policies).modules

    def digest(self, roots: Iterable[str | Path], configs: Sequence[Config]) -> str:
        """Hash of the code that counts, of data files beside it, and of versions of packages that the project uses."""
        search, digest = _Search(self, roots, configs, policies=True), hashlib.sha256()
        for name, path in sorted(search.modules.items()):
            digest.update(f"{name}\0{search.code(name)}\0".encode())
            folder = path if path.is_dir() else path.parent
            if name != _PACKAGE and (path.is_dir() or path.name == "__init__.py"):
                for file in _data_files(folder):
                    content = self.content(file)  # of texts with Unix line ends
                    data = content if b"\0" in content else content.replace(b"\r\n", b"\n")
                    digest.update(f"{file.relative_to(folder).as_posix()}\0".encode() + data)
        for package in sorted(search.packages):
            digest.update(f"{package}={_version(package)}\0".encode())
        return digest.hexdigest()[:_LENGTH]

    def reason(self, name: str) -> str:
        """Why a module, or a package that contains it, is not in the digest; empty if it is."""
        parts = [part for part in _with_packages(name) if part != _PACKAGE or name == _PACKAGE]  # its marker is its own
        return next((reason for part in parts if (reason := self._own_reason(part))), "")

    def path(self, name: str) -> Path | None:
        """The file of a module, or the folder of a package without `__init__.py`; None for one of another package."""
        if name not in self._paths:
            place = name.split(".")
            folder = self.folder if place[0] == _PACKAGE else self.project
            if folder is None or place[0] in sys.stdlib_module_names:
                self._paths[name] = None
            else:
                self._paths[name] = _find(folder.joinpath(*place))
        return self._paths[name]

    def read(self, name: str, path: Path, *, factories: bool) -> Module:
        """The parts of a module."""
        if path.is_dir():
            return Module()
        is_own = path.is_relative_to(self.folder / _PACKAGE) or name.endswith(".py")
        return read_module(self.content(path), whole=not is_own, factories=factories)

    def content(self, path: Path) -> bytes:
        """The bytes of a file when it was first read."""
        if path not in self.contents:
            self.contents[path] = path.read_bytes()
        return self.contents[path]

    def _own_reason(self, name: str) -> str:
        path = self.path(name)
        if path is None or path.is_dir() or MARKER.encode() not in self.content(path):
            return ""
        return self.read(name, path, factories=False).reason


class _Search:
    """The modules that count, and in each the parts that something uses."""

    def __init__(
        self, sources: Sources, roots: Iterable[str | Path], configs: Sequence[Config], policies: bool
    ) -> None:
        self.sources = sources
        self.modules: dict[str, Path] = {}
        self.packages: set[str] = set()  # other packages that the project uses
        self._factories: set[str] = set()  # modules of agents
        self._parts: dict[str, list[Part]] = {}
        self._counted: set[int] = set()  # ids of parts
        self._used: set[str] = set()
        self._waiting: dict[str, list[tuple[str, Part]]] = {}
        for root in roots:
            name, path = (root.name, root) if isinstance(root, Path) else (root, sources.path(root))
            if path is None:
                raise ValueError(f"{root}: no such module in {sources.folder}")
            self._use({f"{name}.*"})
            self._add(name, path)
        self._follow_configs(configs, policies)
        if f"={CHAMPION}" in self._used:  # perhaps only code names it
            self._follow_configs([*configs, {"agents": CHAMPION}], policies)

    def _follow_configs(self, configs: Sequence[Config], policies: bool) -> None:
        places = (Path.cwd(), self.sources.folder / _PACKAGE, self.sources.folder.parent)
        for text, key in config_texts(configs, self.sources.experiments, places if policies else ()):
            self._use(triggers(text))
            if is_dotted(text):
                self._follow_place(text, is_agent=key != TARGET)

    def code(self, name: str) -> str:
        """The code of a module that counts."""
        if name in self._factories:  # read again, with the annotations of functions
            parts = self.sources.read(name, self.modules[name], factories=True).parts
            counted = {part.trigger for part in self._parts[name] if id(part) in self._counted}
            return "".join(text for part in parts if part.trigger in counted for text in part.texts)
        return "".join(text for part in self._parts[name] if id(part) in self._counted for text in part.texts)

    def _add(self, name: str, path: Path) -> None:
        """Add a module and what its parts use."""
        if name in self.modules:
            return
        self.modules[name] = path
        self._parts[name] = self.sources.read(name, path, factories=False).parts
        for part in self._parts[name]:
            keys = {part.trigger} if part.is_entry else {part.trigger, f"{name}.*"}
            if not part.trigger or keys & self._used:
                self._count(name, part)
            else:
                for key in keys:
                    self._waiting.setdefault(key, []).append((name, part))

    def _use(self, names: set[str]) -> None:
        """Count the parts that have these triggers, now and when their modules are added."""
        new = names - self._used
        self._used |= new
        for key in new:
            for name, part in self._waiting.pop(key, ()):
                self._count(name, part)

    def _count(self, name: str, part: Part) -> None:
        if id(part) in self._counted:
            return
        self._counted.add(id(part))
        self._use(part.uses)
        for each in part.imports:
            self._follow_import(name, each)
        for place in part.places:
            self._follow_place(self._absolute(name, place), is_agent=part.is_entry and ":" in place)

    def _follow_import(self, name: str, each: Import) -> None:
        module = self._absolute(name, "." * each.level + each.module)
        if "*" in each.names:
            self._use({f"{module}.*"})
        self._follow(module, name)
        for inner in each.names:
            if self.sources.path(f"{module}.{inner}") is not None:
                self._follow(f"{module}.{inner}", name)

    def _follow_place(self, text: str, *, is_agent: bool) -> None:
        """Follow `package.module`, `package.module.Name` or `package.module:Name` of a configuration or a mapping."""
        self._use(triggers(text))
        module, _, name = text.partition(":")
        while not name and "." in module and self.sources.path(module) is None:
            module = module.rpartition(".")[0]
        self._follow(module, "")
        if is_agent and module in self.modules:
            self._factories.add(module)

    def _follow(self, module: str, importer: str) -> None:
        """Follow a module and the packages that contain it; a package of others counts when the project uses it."""
        if self.sources.path(module.partition(".")[0]) is None:
            top, is_own = module.partition(".")[0], importer.endswith(".py") or importer.partition(".")[0] == _PACKAGE
            if not is_own and top not in sys.stdlib_module_names and top not in COMPUTING:
                self.packages.add(top)
        elif not self.sources.reason(module):
            for package in _with_packages(module):
                if (path := self.sources.path(package)) is not None and not self.sources.reason(package):
                    self._add(package, path)

    def _absolute(self, name: str, place: str) -> str:
        """A module's name, or a place in it, that is given relative to the package of the module `name`."""
        level = len(place) - len(place.lstrip("."))
        if not level:
            return place
        is_package = self.modules[name].name == "__init__.py"
        parts = name.split(".")[: None if level == 1 and is_package else is_package - level]
        return ".".join([*parts, *filter(None, [place[level:]])])


def _find(path: Path) -> Path | None:
    for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
        if file.is_file():
            return file
    return path if path.is_dir() and next(path.rglob("*.py"), None) else None


def _with_packages(name: str) -> Iterator[str]:
    """The packages that contain a module, from the outermost, and the module."""
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts) + 1))


def _data_files(package: Path) -> list[Path]:
    """Files of a package that are not code, without those of packages in it."""
    found: list[Path] = []
    for path in sorted(package.iterdir()):
        if path.is_dir() and path.name[0] not in "._" and not any(path.glob("*.py")):
            found += _data_files(path)
        elif path.is_file() and path.suffix != ".py" and path.name[0] != ".":
            found.append(path)
    return found


@cache
def _version(package: str) -> str:
    """The installed version of an import package; empty without one."""
    with suppress(PackageNotFoundError):
        return version(package)
    return " ".join(version(name) for name in sorted(set(packages_distributions().get(package, ()))))
