"""Decorators for functions compiled by numba. `core/kernel_cache.py` says where they are kept."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar, cast

import numba

from cardlab.core.kernel_cache import use_cache_folder

P = ParamSpec("P")
R = TypeVar("R")


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


use_cache_folder()
