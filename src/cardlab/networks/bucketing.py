"""Passes in bfloat16 whose matrix products come in few sizes.

On a CPU, oneDNN writes machine code for every shape of a bfloat16 product that it meets: 1 to 8 ms, often more than the
product takes. Tables and minibatches have another number of rows each time, so they are filled up to a common one.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

import torch
from torch import Tensor

_GRAIN = 16  # rows: below it all numbers are filled up to it
_SIZES_IN_AN_OCTAVE = 64  # so at most a sixty-fourth of many rows is filling


class RowWise(Protocol):
    """Whoever has such passes."""

    training: bool
    mixes_rows: bool  # whether in training a row's outputs depend on the others: then nothing is filled up


Owner = TypeVar("Owner", bound=RowWise)
Rest = ParamSpec("Rest")
Result = TypeVar("Result")
Pass = Callable[Concatenate[Owner, Tensor, Rest], Result]


def common_size(num: int) -> int:
    """The least common number of rows that holds `num`."""
    grain = max(_GRAIN, (1 << num.bit_length() >> 1) // _SIZES_IN_AN_OCTAVE)
    return -(-num // grain) * grain


def in_common_sizes(run: Pass[Owner, Rest, Result]) -> Pass[Owner, Rest, Result]:
    """A method of tensors [N, …] and [K, …] that sees them filled up with zeros where that saves time.

    It gives values [N] by its first argument, or scores, one for each row of its last, and such values. What is filled
    in does not come out, and has no gradient.
    """

    @wraps(run)
    def choose(self: Owner, rows: Tensor, *rest: Rest.args, **options: Rest.kwargs) -> Result:
        if not torch.is_autocast_enabled("cpu") or rows.device.type != "cpu" or (self.training and self.mixes_rows):
            return run(self, rows, *rest, **options)
        others = [_filled(one) if isinstance(one, Tensor) else one for one in rest]
        result: Any = cast(Any, run)(self, _filled(rows), *others, **options)
        if isinstance(result, Tensor):
            return cast(Result, result[: len(rows)])
        scores, values = result
        last: Any = rest[-1] if rest else rows
        return cast(Result, (scores[: len(last)], values[: len(rows)]))

    return choose


def _filled(rows: Tensor) -> Tensor:
    """`rows` [N, …] and zeros behind them, numbers as the products read them: they would be copied for that anyway."""
    dtype = torch.get_autocast_dtype("cpu") if rows.is_floating_point() else rows.dtype
    filled = rows.new_empty((common_size(len(rows)), *rows.shape[1:]), dtype=dtype)
    filled[: len(rows)] = rows
    filled[len(rows) :] = 0
    return filled
