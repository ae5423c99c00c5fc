"""Decorators for functions compiled by numba, and the folder of numba's disk cache.

numba's disk cache does not notice an edit of a callee or constant in another file. The folder's name therefore contains
a hash of every source file that defines kernels or a game: each edit leads to a new folder. Checkouts of the same code
use the same folder: clones, worktrees and the copies that `dvc exp run` makes.
"""

import hashlib
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from errno import EPERM
from multiprocessing import parent_process
from pathlib import Path
from stat import S_ISDIR
from tempfile import TemporaryFile, gettempdir
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numba.core.config
from numba.core.caching import UserProvidedCacheLocator

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = Path(__file__).parents[1]
_MAX_FOLDERS = 8


def _sources_digest() -> str:
    """Hash of numba's version and of all files of the package that use this module or belong to games."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        text = path.read_bytes()
        if __name__.encode() in text or path.is_relative_to(_PACKAGE / "games"):
            digest.update(str(path.relative_to(_PACKAGE)).encode() + b"\0" + text)
    return digest.hexdigest()[:16]


class PackageCacheLocator(UserProvidedCacheLocator):
    """numba's cache of a file of this package, at a path that does not depend on where the package is."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """A locator, or None for a file outside of the package."""
        return super().from_function(py_func, py_file) if Path(py_file).is_relative_to(_PACKAGE) else None

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """The folder of the file in the package."""
        return str(Path(py_file).parent.relative_to(_PACKAGE))


def _user_root() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cardlab" / "kernels"


def _private_root() -> Path:
    """A folder below TMPDIR that no other user can write to, since numba unpickles what lies there."""
    root = Path(gettempdir()) / f"cardlab-kernels-{os.getuid()}"
    root.mkdir(mode=0o700, exist_ok=True)
    found = root.lstat()
    if not S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise PermissionError(EPERM, "another user can write to it", str(root))
    return root


def _use_cache_folder() -> None:
    """Set numba's cache folder to the one of these sources; delete all but the most recently used folders."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    locators = f"{__name__}.{PackageCacheLocator.__name__},UserProvidedCacheLocator"
    setattr(numba.core.config, "CACHE_LOCATOR_CLASSES", locators)  # noqa: B010 - numba fills its config at run time
    setattr(numba.core.config, "CACHE_DIR", os.devnull)  # noqa: B010 - where no folder can be written to
    digest, problem = _sources_digest(), ""
    for find_root in (_user_root, _private_root):
        try:
            root = find_root()
            folder = root / digest
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=folder):
                os.utime(folder)
            for old in sorted(root.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)[_MAX_FOLDERS:]:
                shutil.rmtree(old, ignore_errors=True)
        except (OSError, RuntimeError) as error:  # RuntimeError: there is no home folder
            reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else str(error)
            problem = problem or " ".join(reason.split())
            continue
        setattr(numba.core.config, "CACHE_DIR", str(folder))  # noqa: B010
        _warn(problem, f"compiled kernels are kept in {root}")
        return
    _warn(problem, "kernels are compiled in memory, again in each process")


def _warn(problem: str, instead: str) -> None:
    if problem and parent_process() is None:
        print(f"cardlab: warning: no cache folder ({problem}); {instead}", file=sys.stderr)


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with the options of all kernels, cached on disk.

    Kernels take arrays and scalars only, since numba's cache does not work with function arguments. They read fields of
    records as state["field"], which also works with NUMBA_DISABLE_JIT=1.
    """
    return _compiled(function)


def fastmath_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` as `kernel` does, with reordered sums, as in torch and numpy.

    The last digits of results differ between processors.
    """
    return _compiled(function, fastmath={"reassoc", "contract", "nsz"})


def _compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    compiled: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
    with suppress(RuntimeError, AttributeError):  # no folder can be written to, or NUMBA_DISABLE_JIT=1
        compiled.enable_caching()
    return cast(Callable[P, R], compiled)


_use_cache_folder()
