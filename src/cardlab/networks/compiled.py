"""Passes that torch.compile translates whole, forward and backward, where a network asks for it.

Compiling `torch.nn`'s own layers one by one does nothing: torch leaves its own frames alone. And a pass as a whole
writes less of what lies between its layers to memory.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Protocol, TypeVar

import torch
from torch import Tensor

from cardlab.networks.bucketing import Rest, Result, RowWise, in_common_sizes

_FEW = 2  # rows: torch.compile makes a program of its own for one


class Fusible(RowWise, Protocol):
    """Whoever has such passes."""

    fused: bool  # whether they are translated; copies keep it


Owner = TypeVar("Owner", bound=Fusible)
Pass = Callable[Concatenate[Owner, Tensor, Rest], Result]


def fusible(run: Pass[Owner, Rest, Result]) -> Pass[Owner, Rest, Result]:
    """A method from tensors to tensors, the first of them [N, F], that is translated where its owner is `fused`.

    Its results are as `in_common_sizes` (padding.py) has them. Networks of the same shape share the program: weights
    are its inputs. The first call of each kind (with gradients, without) takes up to half a minute of one core.
    """
    compiled: Any = torch.compile(run, dynamic=True)  # nothing is compiled before it is called

    @in_common_sizes
    @wraps(run)
    def choose(self: Owner, rows: Tensor, *rest: Rest.args, **options: Rest.kwargs) -> Result:
        result: Result = (compiled if self.fused and len(rows) >= _FEW else run)(self, rows, *rest, **options)
        return result

    return choose
