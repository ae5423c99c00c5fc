"""The decorator for compiled loops, and the folder of numba's disk cache.

numba's disk cache does not notice an edit of a callee in another file, so the folder's name contains a hash of every
source file that defines kernels: each edit leads to a new folder.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numba.core.config

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = Path(__file__).parents[1]
_MAX_FOLDERS = 4


def _sources_digest() -> str:
    """Hash of numba's version and of all files of the package that use this module, in a fixed order."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        text = path.read_bytes()
        if __name__.encode() in text:
            digest.update(str(path.relative_to(_PACKAGE)).encode() + b"\0" + text)
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "cardlab" / "kernels"


def _use_cache_folder() -> None:
    """Set numba's cache folder to that of these sources; delete all but the most recently used folders."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    root = _cache_root()
    folder = root / _sources_digest()
    setattr(numba.core.config, "CACHE_DIR", str(folder))  # noqa: B010 - numba fills its config at run time
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        others = sorted(root.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in others[_MAX_FOLDERS:]:
            shutil.rmtree(old, ignore_errors=True)
    except OSError:
        return  # a read-only home: numba falls back to compiling in memory, or to its own choice


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` with the options that all kernels of the project share, cached on disk.

    Kernels take arrays and scalars only: numba's cache never hits for one that receives functions.
    Record fields are read as state["field"], which also works with NUMBA_DISABLE_JIT=1.
    """
    return _compiled(function)


def fastmath_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile `function` like `kernel`, with sums in any order, as in torch and numpy.

    Results differ between processors in the last digits.
    """
    return _compiled(function, fastmath={"reassoc", "contract", "nsz"})


def _compiled(function: Callable[P, R], **options: Any) -> Callable[P, R]:
    decorate: Any = numba.njit(cache=True, nogil=True, error_model="numpy", **options)
    return cast(Callable[P, R], decorate(function))


_use_cache_folder()
