"""Communication between the processes that train one learner. Every call is a no-op for a single process."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import distributed, nn

from cardlab.games.protocol import Floats

Value = TypeVar("Value")


@dataclass(frozen=True)
class ProcessGroup:
    """One process of `size`. All have the same weights and play their own games; the main process, rank 0, evaluates.

    With several processes a group of torch.distributed must be open. Its calls raise RuntimeError when a process is
    gone.
    """

    rank: int = 0
    size: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this process evaluates, prints and writes."""
        return self.rank == 0

    def share_of(self, whole: int) -> int:
        """Part of this process in `whole` games, decisions or buffer entries; parts differ by at most one."""
        return whole * (self.rank + 1) // self.size - whole * self.rank // self.size

    def all_gather(self, *numbers: float) -> NDArray[np.float64]:
        """[size, K] the K numbers of every process, equal in all of them."""
        own = torch.tensor(numbers, dtype=torch.float64)
        if self.size == 1:
            return own.numpy()[None]
        found = [torch.empty_like(own) for _ in range(self.size)]
        distributed.all_gather(found, own)
        return torch.stack(found).numpy()

    def gather(self, value: Value) -> list[Value]:
        """The values of all processes in the main process; an empty list in the others."""
        if self.size == 1:
            return [value]
        values: list[Any] | None = [None] * self.size if self.is_main else None
        distributed.gather_object(value, values)
        return values or []

    def broadcast(self, *flags: bool) -> list[bool]:
        """The flags of the main process; waits for them without a limit."""
        if self.size == 1:
            return list(flags)
        sent = torch.tensor(flags, dtype=torch.uint8)
        distributed.broadcast(sent, 0)
        return [bool(flag) for flag in sent]

    def num_minibatches(self, num: int, size: int) -> int:
        """Minibatches of about `size` into which each process splits its `num` decisions; equal in all processes."""
        nums, sizes = self.all_gather(num, size).T
        return max(1, min(round(nums.sum() / sizes.sum()), int(nums.min())))

    def standardize(self, parts: Sequence[Floats]) -> list[Floats]:
        """Each part less its mean, divided by its standard deviation, both over that part in all processes."""
        wide = [part.astype(np.float64) for part in parts]
        sums = np.array([(len(part), part.sum(), np.square(part).sum()) for part in wide])
        nums, totals, squares = self.all_gather(*sums.ravel()).sum(axis=0).reshape(-1, 3).T
        means = totals / nums
        spreads = np.sqrt(np.maximum(0.0, squares - totals * means) / np.maximum(1, nums - 1))
        return [
            ((part - mean) / (spread + 1e-8)).astype(np.float32)
            for part, mean, spread in zip(wide, means, spreads, strict=True)
        ]

    def average_gradients(self, weights: Sequence[nn.Parameter], loss: float, count: int) -> float:
        """Replace gradients of a sum over `count` decisions by those of the mean over all processes' decisions.

        `loss` is this process's mean loss; returns the mean over all. A weight without a gradient in any process keeps
        none.
        """
        has_gradient = [weight.grad is not None for weight in weights]
        pieces = [torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in weights]
        numbers = torch.tensor([*has_gradient, loss * count if count else 0.0, count], dtype=torch.float32)
        on = weights[0].device if "nccl" in distributed.get_backend_config() else "cpu"
        flat = torch.cat([*(piece.flatten().to(on) for piece in pieces), numbers.to(on)])
        distributed.all_reduce(flat)
        *known, total, counted = flat[-len(numbers) :].tolist()
        flat.div_(counted)
        gradients = flat[: -len(numbers)].to(weights[0].device).split([weight.numel() for weight in weights])
        for weight, gradient, found in zip(weights, gradients, known, strict=True):
            weight.grad = gradient.view_as(weight) if found else None
        return total / counted

    def gather_state(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """A checkpoint's state: that of the main process, with those of the other processes under `others`."""
        return {**state, "others": list(others)} if (others := self.gather(dict(state))[1:]) else dict(state)

    def own_state(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Part of this process in what `gather_state` returned."""
        return state if self.is_main else state["others"][self.rank - 1]


def mean_metrics(metrics: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each metric over the processes that have it."""
    names = dict.fromkeys(name for one in metrics for name in one)
    found = {name: [one[name] for one in metrics if name in one] for name in names}
    return {name: sum(values) / len(values) for name, values in found.items()}
