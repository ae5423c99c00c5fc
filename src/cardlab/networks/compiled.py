"""Decorators for the forward passes of networks: torch.compile, and batch sizes in buckets.

torch.compile has no effect on the modules of `torch.nn` one by one, because torch skips frames of its own code.
A pass that is compiled as a whole also writes fewer intermediate results to memory.

On a CPU, oneDNN generates machine code for each new shape of a bfloat16 matrix product. This takes 1 to 8 ms, often
more than the product itself. The number of decisions differs from batch to batch, so batches are padded to few sizes.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

import torch
from torch import Tensor

_MIN_COMPILED_ROWS = 2  # torch.compile specialises on a batch of one row
_MIN_BUCKET = 16  # rows; also the step between the smallest buckets
_BUCKETS_PER_OCTAVE = 64  # so that padding adds at most 1/64 to a large batch


class Compilable(Protocol):
    """The class of a decorated method."""

    training: bool
    compiled: bool  # whether torch.compile compiles the decorated methods; copies keep the value
    depends_on_batch: bool  # whether outputs of a row depend on other rows in training, which rules out padding


Owner = TypeVar("Owner", bound=Compilable)
Rest = ParamSpec("Rest")
Result = TypeVar("Result")
Pass = Callable[Concatenate[Owner, Tensor, Rest], Result]


def compilable(run: Pass[Owner, Rest, Result]) -> Pass[Owner, Rest, Result]:
    """Compile a method from tensors to tensors with torch.compile where its owner is `compiled`; pad to buckets.

    The first argument has shape [N, F]; results are those of `pad_to_bucket`. Networks of equal shape share the
    compiled program, because weights are its inputs. The first call with gradients and the first call without take up
    to half a minute of one core each.
    """

    @cache
    def compiled() -> Any:
        return torch.compile(run, dynamic=True)  # importing its compiler takes seconds and 130 MB

    @pad_to_bucket
    @wraps(run)
    def choose(self: Owner, rows: Tensor, *rest: Rest.args, **options: Rest.kwargs) -> Result:
        use_compiled = self.compiled and len(rows) >= _MIN_COMPILED_ROWS
        result: Result = (compiled() if use_compiled else run)(self, rows, *rest, **options)
        return result

    return choose


def pad_to_bucket(run: Pass[Owner, Rest, Result]) -> Pass[Owner, Rest, Result]:
    """Pad the tensors [N, …] and [K, …] of a method with zero rows, under CPU autocast.

    The method returns values [N] for its first argument, or a pair of scores [K] for its last argument and values [N].
    Rows of the padding are removed from the result and get no gradient.
    """

    @wraps(run)
    def choose(self: Owner, rows: Tensor, *rest: Rest.args, **options: Rest.kwargs) -> Result:
        mixed = self.training and self.depends_on_batch
        if not torch.is_autocast_enabled("cpu") or rows.device.type != "cpu" or mixed:
            return run(self, rows, *rest, **options)
        others = [_pad(argument) if isinstance(argument, Tensor) else argument for argument in rest]
        result: Any = cast(Any, run)(self, _pad(rows), *others, **options)
        if isinstance(result, Tensor):
            return cast(Result, result[: len(rows)])
        scores, values = result
        last: Any = rest[-1] if rest else rows
        return cast(Result, (scores[: len(last)], values[: len(rows)]))

    return choose


def bucket_size(num_rows: int) -> int:
    """The smallest bucket that holds `num_rows` rows."""
    step = max(_MIN_BUCKET, (1 << num_rows.bit_length() >> 1) // _BUCKETS_PER_OCTAVE)
    return -(-num_rows // step) * step


def _pad(rows: Tensor) -> Tensor:
    """`rows` [N, …] with zero rows behind them, floats in the dtype of autocast, which would copy them anyway."""
    dtype = torch.get_autocast_dtype("cpu") if rows.is_floating_point() else rows.dtype
    padded = rows.new_empty((bucket_size(len(rows)), *rows.shape[1:]), dtype=dtype)
    padded[: len(rows)] = rows
    padded[len(rows) :] = 0
    return padded
