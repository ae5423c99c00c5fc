"""What lets this process learn faster, whatever it learns."""

import ctypes
import platform
from collections.abc import Generator
from contextlib import contextmanager

import torch

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # glibc's mallopt(3)
_LARGEST_INT = 2**31 - 1


def keep_freed_memory() -> None:
    """From now on keep what is freed: else a step's tensors go back to the kernel, and come page by page each time."""
    if platform.libc_ver()[0] == "glibc":
        allocator = ctypes.CDLL(None)
        allocator.mallopt(_MMAP_MAX, 0)  # large ones too: else they are mapped and unmapped one by one
        allocator.mallopt(_TRIM_THRESHOLD, _LARGEST_INT)


@contextmanager
def denormals_flushed() -> Generator[None]:
    """Denormal numbers are 0 to this thread: Adam's means of gradients that stay zero fade into them, and crawl."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)
