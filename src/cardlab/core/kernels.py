"""Decorators for functions compiled by numba, and the folder of numba's disk cache.

numba's disk cache does not notice an edit of a callee or constant in another file. The folder's name therefore contains
a hash of every source file that defines kernels or a game: each edit leads to a new folder. Checkouts of the same code
use the same folder: clones, worktrees and the copies that `dvc exp run` makes.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numba.core.config
from numba.core.caching import UserProvidedCacheLocator

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = Path(__file__).parents[1]
_MAX_FOLDERS = 4


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


def _use_cache_folder() -> None:
    """Set numba's cache folder to the one of these sources; delete all but the most recently used folders."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cardlab" / "kernels"
    folder = root / _sources_digest()
    locators = f"{__name__}.{PackageCacheLocator.__name__},UserProvidedCacheLocator,UserWideCacheLocator"
    setattr(numba.core.config, "CACHE_LOCATOR_CLASSES", locators)  # noqa: B010 - numba fills its config at run time
    setattr(numba.core.config, "CACHE_DIR", str(folder))  # noqa: B010
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        others = sorted(root.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in others[_MAX_FOLDERS:]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError:
        return  # read-only: numba chooses another folder, or compiles in memory


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
    decorate: Any = numba.njit(cache=True, nogil=True, error_model="numpy", **options)
    return cast(Callable[P, R], decorate(function))


_use_cache_folder()
