"""Process settings that make training faster on a CPU."""

import ctypes
import platform
from collections.abc import Generator
from contextlib import contextmanager

import torch

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # glibc's mallopt(3)
_LARGEST_INT = 2**31 - 1


def keep_freed_memory() -> None:
    """Keep freed memory in the process; otherwise each step's tensors cause page faults again."""
    if platform.libc_ver()[0] == "glibc":
        allocator = ctypes.CDLL(None)
        allocator.mallopt(_MMAP_MAX, 0)  # large blocks too: otherwise each is mapped and unmapped
        allocator.mallopt(_TRIM_THRESHOLD, _LARGEST_INT)


@contextmanager
def denormals_flushed() -> Generator[None]:
    """Treat denormal numbers as 0 in this thread: Adam's moments of unused weights become denormal, which is slow."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
