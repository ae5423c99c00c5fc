"""The folders of numba's disk cache: one for each state of the sources.

numba's disk cache does not notice an edit of a callee or constant in another file. The name of a folder is therefore a
hash of the sources: each edit leads to a new folder. Checkouts of the same code use the same folder: clones, worktrees
and the copies that `dvc exp run` makes. The kernels of a project, or of any other package, have folders of their own.
"""

import hashlib
import os
import shutil
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from errno import EPERM
from functools import cache
from multiprocessing import parent_process
from pathlib import Path
from stat import S_ISDIR
from tempfile import TemporaryFile, gettempdir
from typing import Any

import numba
import numba.core.config
from numba.core.caching import UserProvidedCacheLocator

NOT_IN_DIGEST = "decides where compiled code is kept, not what it computes"

_PACKAGE = Path(__file__).parents[1]
_KERNELS = f"{_PACKAGE.name}.core.kernels"
_MAX_FOLDERS = 8
_SECONDS_KEPT = 24 * 3600  # what runs now may still use its folder


class KernelCacheLocator(UserProvidedCacheLocator):
    """numba's cache of a file, in the folder of the sources that it belongs to."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        file, folder, top = Path(py_file), cache_folder(), _PACKAGE
        if not file.is_relative_to(_PACKAGE) and str(folder) != os.devnull:
            top, sources = _sources_with(file)
            folder = folder.with_name(_digest(top, sources, folder.name))
        self._folder, self._cache_path = folder, str(folder / os.path.relpath(file.parent, top))

    def ensure_cache_path(self) -> None:
        """Make the folder, and mark it as used."""
        super().ensure_cache_path()
        os.utime(self._folder)


def cache_folder() -> Path:
    """The folder of cardlab's own kernels; /dev/null without one."""
    return Path(str(getattr(numba.core.config, "CACHE_DIR")))  # noqa: B009 - numba fills its config at run time


def use_cache_folder() -> None:
    """Set numba's cache folder to the one of these sources; delete old ones."""
    _set("CACHE_LOCATOR_CLASSES", f"{__name__}.{KernelCacheLocator.__name__}")
    _set("CACHE_DIR", os.devnull)  # where no folder can be written to
    texts = (path for path in _PACKAGE.rglob("*.py") if _has_kernels(path))
    digest, problem = _digest(_PACKAGE, texts, numba.__version__), ""
    for find_root in (_user_root, _private_root):
        try:
            root = find_root()
            folder = root / digest
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=folder):
                os.utime(folder)
            _delete_unused(root)
        except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
            reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
            problem = problem or " ".join(reason.split())
            continue
        _set("CACHE_DIR", str(folder))
        _warn(problem, f"compiled kernels are kept in {root}")
        return
    _warn(problem, "kernels are compiled in memory, again in each process")


def _set(name: str, value: str) -> None:
    setattr(numba.core.config, name, value)


def _has_kernels(path: Path) -> bool:
    """Whether a file of this package belongs to a game or defines kernels."""
    return path.is_relative_to(_PACKAGE / "games") or path.stem == "kernels" or _KERNELS.encode() in path.read_bytes()


def _digest(top: Path, files: Iterable[Path], start: str) -> str:
    digest = hashlib.sha256(start.encode())
    for path in sorted(files):
        with suppress(OSError):  # it was deleted since
            found = path.stat()
            digest.update(f"{path.relative_to(top)}\0".encode() + _content(path, found.st_mtime_ns, found.st_size))
    return digest.hexdigest()[:16]


@cache
def _content(path: Path, _changed: int, _size: int) -> bytes:
    """Hash of a file, read again when its time or size differs."""
    return hashlib.sha256(path.read_bytes()).digest()


def _sources_with(file: Path) -> tuple[Path, set[Path]]:
    """The folder from which a file of another package is imported, and the sources there that it may use.

    In a folder `src` they are all, elsewhere its package and the modules beside that.
    """
    entries = [Path(entry).absolute() for entry in sys.path]
    tops = [entry for entry in entries if file.is_relative_to(entry)] or [file.parent]
    top = max(tops, key=lambda entry: len(entry.parts))
    if top.name == "src":
        return top, set(top.rglob("*.py"))
    return top, {*top.glob("*.py"), *(top / file.relative_to(top).parts[0]).rglob("*.py")}


def _user_root() -> Path:
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen) / "cardlab"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cardlab" / "kernels"


def _private_root() -> Path:
    """A folder below TMPDIR that no other user can write to, since numba unpickles what lies there."""
    root = Path(gettempdir()) / f"cardlab-kernels-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    found = root.lstat()
    if not S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(EPERM, "another user can write to it", str(root))
    return root


def _delete_unused(root: Path) -> None:
    used: dict[Path, float] = {}
    for path in root.iterdir():
        with suppress(FileNotFoundError):  # another process has deleted it
            used[path] = path.stat().st_mtime
    for path in sorted(used, key=used.__getitem__, reverse=True)[_MAX_FOLDERS:]:
        if used[path] < time.time() - _SECONDS_KEPT:
            shutil.rmtree(path, ignore_errors=True)


def _warn(problem: str, instead: str) -> None:
    if problem and parent_process() is None:
        print(f"cardlab: warning: no cache folder ({problem}); {instead}", file=sys.stderr)
