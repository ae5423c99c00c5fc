"""What lets this process learn faster, whatever it learns."""

import ctypes
import platform

import torch

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's mallopt(3)
_LARGEST_INT = 2**31 - 1
_LARGEST_MMAP_THRESHOLD = 32 * 2**20  # of glibc on 64 bits


def prepare(threads: int) -> None:
    """Set the number of torch's threads; keep numbers and memory from slowing down what is done over and over."""
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)  # Adam's means of gradients that stay zero fade into denormals, which are slow
    if platform.libc_ver()[0] == "glibc":  # else a step's tensors go back to the kernel and come page by page each time
        allocator = ctypes.CDLL(None)
        allocator.mallopt(_MMAP_THRESHOLD, _LARGEST_MMAP_THRESHOLD)
        allocator.mallopt(_TRIM_THRESHOLD, _LARGEST_INT)
