"""Indexing, copying and joining of record arrays as opaque bytes. Arrays of numbers are accepted too.

numpy copies a structured array field by field: indexing 512 Thirty-One records takes 870 µs, as bytes 5 µs.
"""

from collections.abc import Sequence
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Records = TypeVar("Records", bound=NDArray[Any])


def take(records: Records, rows: NDArray[Any]) -> Records:
    """A new array of the records at `rows`: indices, or a mask."""
    return cast(Records, as_bytes(records)[rows].view(records.dtype))


def put(records: NDArray[Any], rows: NDArray[Any], values: NDArray[Any]) -> None:
    """Write `values` over the records at `rows`, in place."""
    as_bytes(records)[rows] = as_bytes(values)


def copied(records: Records) -> Records:
    """A new array of the same records."""
    return cast(Records, as_bytes(records).copy().view(records.dtype))


def join(parts: Sequence[Records]) -> Records:
    """A new array of the concatenated records of `parts`."""
    return cast(Records, np.concatenate([as_bytes(part) for part in parts]).view(parts[0].dtype))


def as_bytes(records: NDArray[Any]) -> NDArray[Any]:
    """Records as opaque bytes; other arrays unchanged."""
    return records if records.dtype.names is None else records.view(np.dtype((np.void, records.dtype.itemsize)))
