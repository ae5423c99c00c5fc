"""Digest of the code that this process runs, kept for its life: later edits of files change neither the code nor it."""

import gc
import json
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path

from cardlab.core.code_digest import Sources
from cardlab.core.config_texts import Config
from cardlab.core.parts import add_project_to_path, project_code

NOT_IN_DIGEST = "reads code and decides nothing else"


class CodeChanged(RuntimeError):
    """The code of this process is not the code that it was started for; the message is one line."""


class _Running:
    """The sources of this process."""

    def __init__(self) -> None:
        self.sources = own_sources()
        self.digests: dict[object, str] = {}

    def import_modules(self, roots: Iterable[str | Path], configs: Iterable[Config]) -> None:
        """Import what is used; not what is named in policies, which may be anyone's.

        Raises CodeChanged if a file that is read for this was edited meanwhile.
        """
        before = set(self.sources.contents)
        add_project_to_path()
        with fast_imports():
            for name, path in self.sources.modules(roots, [*configs], policies=False).items():
                if path.suffix == ".py" and name != path.name:
                    with suppress(ImportError):  # an extra is not installed
                        import_module(name)
        for path, content in self.sources.contents.items():
            if path not in before and not (path.is_file() and path.read_bytes() == content):
                raise CodeChanged(f"{path}: was changed while this process started; run the command again")


def code_digest(roots: Iterable[str | Path], *configs: Config, experiments: Mapping[str, Config] | None = None) -> str:
    """Digest of the code that `roots` use with `configs` in this process, which imports it now and reads it once.

    `experiments` as in Sources. Raises CodeChanged.
    """
    running = _running(Path.cwd())
    key = (*roots, json.dumps([configs, experiments], sort_keys=True, default=str))
    if key not in running.digests:
        running.sources.experiments = experiments or {}
        running.import_modules(key[:-1], configs)
        running.digests[key] = running.sources.digest(key[:-1], configs)
    return running.digests[key]


def running_files() -> set[Path]:
    """The files that were read for digests of this process."""
    return {path.resolve() for path in _running(Path.cwd()).sources.contents}


def check_unchanged(given: str, found: str, what: str = "the code") -> None:
    """Raise CodeChanged unless `found` in this process is what was `given` when it was started."""
    if given != found:
        raise CodeChanged(f"{what} has changed since this was started ({given}, now {found}); run the command again")


@contextmanager
def fast_imports() -> Generator[None]:
    """Within the block no garbage is collected: imports make 400,000 objects that stay, which are never visited."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def own_sources(experiments: Mapping[str, Config] | None = None) -> Sources:
    """The sources of this package and of the project in the working directory."""
    return Sources(Path(__file__).parents[__name__.count(".")], project_code(), experiments)


@cache
def _running(folder: Path) -> _Running:  # noqa: ARG001  each working directory may have a project of its own
    return _Running()
