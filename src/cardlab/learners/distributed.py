"""What the processes that train one learner together tell each other. A process alone tells nobody, at no cost."""

import errno
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import distributed as group

from cardlab.games.protocol import Floats

Value = TypeVar("Value")


@dataclass(frozen=True)
class Ranks:
    """One process of `size` that have the same weights, each with tables of its own; rank 0 measures and writes.

    All of them must come to each exchange, in the same order. One whose peer is gone gets torch's RuntimeError.
    """

    rank: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the process that measures and writes."""
        return self.rank == 0

    def share(self, whole: int) -> int:
        """The part of `whole` tables, decisions or places that falls to this process; parts differ by one at most."""
        return whole * (self.rank + 1) // self.size - whole * self.rank // self.size

    def each(self, *numbers: float) -> NDArray[np.float64]:
        """[size, K] the K numbers of every process, the same array in all of them."""
        mine = torch.tensor(numbers, dtype=torch.float64)
        if self.size == 1:
            return mine.numpy()[None]
        theirs = [torch.empty_like(mine) for _ in range(self.size)]
        group.all_gather(theirs, mine)
        return torch.stack(theirs).numpy()

    def gather(self, value: Value) -> list[Value]:
        """The values of all processes in rank 0, nothing in the others."""
        if self.size == 1:
            return [value]
        values: list[Any] | None = [None] * self.size if self.first else None
        group.gather_object(value, values)
        return values or []

    def told(self, *flags: bool) -> list[bool]:
        """What rank 0 says, whatever this process thinks; waits for it as long as it takes."""
        if self.size == 1:
            return list(flags)
        words = torch.tensor(flags, dtype=torch.uint8)
        group.broadcast(words, 0)
        return [bool(word) for word in words]

    def parts(self, num: int, size: int) -> int:
        """In how many minibatches of about `size` each process splits its `num` decisions: the same number in all."""
        nums, sizes = self.each(num, size).T
        return max(1, min(round(nums.sum() / sizes.sum()), int(nums.min())))

    def standardize(self, parts: Sequence[Floats]) -> list[Floats]:
        """Each part of some values less its mean, by its standard deviation: over that part in all processes.

        All parts in one exchange; every process has as many.
        """
        wide = [part.astype(np.float64) for part in parts]
        sums = np.array([(len(part), part.sum(), np.square(part).sum()) for part in wide])
        nums, totals, squares = self.each(*sums.ravel()).sum(axis=0).reshape(-1, 3).T
        means = totals / nums
        spreads = np.sqrt(np.maximum(0.0, squares - totals * means) / np.maximum(1, nums - 1))
        return [
            ((part - mean) / (spread + 1e-8)).astype(np.float32)
            for part, mean, spread in zip(wide, means, spreads, strict=True)
        ]

    def share_memory(self, shape: Sequence[int]) -> Floats:
        """Zeros of this shape that all processes read and write; OSError in all when there is no room for them.

        The file behind it has no name any more when this returns, so that nothing is left of a killed process.
        """
        size = int(np.prod(shape)) * np.dtype(np.float32).itemsize
        told: list[Any] = [None]
        with ExitStack() as stack:
            if self.first:
                file = stack.enter_context(tempfile.NamedTemporaryFile(prefix="cardlab-", dir=_memory()))
                with suppress(OSError):
                    os.posix_fallocate(file.fileno(), 0, size)  # a full disk is found here, not by a signal later
                    told = [file.name]
            group.broadcast_object_list(told, 0)
            if told[0] is None:
                raise OSError(errno.ENOSPC, f"no room for {size} bytes that a training's processes share", _memory())
            memory = np.memmap(told[0], np.float32, "r+", shape=tuple(shape))
            group.barrier()  # the name goes when everyone is in
        return memory

    def keep(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The state for a checkpoint; in rank 0 with those of the other processes below `others`."""
        return {**state, "others": list(others)} if (others := self.gather(dict(state))[1:]) else dict(state)

    def own(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """What of it is of this process; the other way round."""
        return state if self.first else state["others"][self.rank - 1]


def merged(metrics: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each metric over the processes that have it."""
    names = dict.fromkeys(name for one in metrics for name in one)
    found = {name: [one[name] for one in metrics if name in one] for name in names}
    return {name: sum(values) / len(values) for name, values in found.items()}


def _memory() -> str:
    """Where files are memory, or at least are short-lived."""
    return "/dev/shm" if os.path.isdir("/dev/shm") else tempfile.gettempdir()
