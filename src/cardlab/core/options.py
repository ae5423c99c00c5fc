"""Checks of options: what is wrong is said in one line that names the key and what is allowed.

Lowest layer: every part that takes options may use it, and nothing here knows any of them.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import cast

_LARGEST = 2**63 - 1  # whole number that every part can count to
_LONGEST = 300  # characters of a value in a message


class InvalidOption(ValueError):
    """An option has a value that its owner cannot take; the message is one line, fit for a terminal."""

    def __init__(self, key: str, value: object, allowed: str) -> None:
        super().__init__(f"{key}={shortened(as_written(value))}: must be {allowed}")
        self.key = key
        self.value = value
        self.allowed = allowed

    def __reduce__(self) -> tuple[type["InvalidOption"], tuple[str, object, str]]:
        """Pickle by the three parts, so that worker processes can raise it too."""
        return (type(self), (self.key, self.value, self.allowed))


def as_written(value: object) -> str:
    """`value` as configurations write it: null, true, [a,b], {a: b}."""
    if isinstance(value, Mapping):
        entries = cast(Mapping[object, object], value).items()
        return "{" + ", ".join(f"{key}: {as_written(entry)}" for key, entry in entries) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(as_written(entry) for entry in cast(Sequence[object], value)) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    try:
        return str(value)
    except ValueError:  # Python writes no whole number of more than some thousand digits
        return hex(cast(int, value))


def shortened(text: str) -> str:
    """`text`, or its beginning where a terminal would be full of it."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 3]}… ({len(text)} characters)"


def check_choice(key: str, value: object, choices: Collection[object]) -> None:
    """Raise InvalidOption unless `value` is one of `choices`."""
    if value not in choices:
        raise InvalidOption(key, value, "one of " + ", ".join(map(as_written, choices)))


def check_range(
    key: str,
    value: object,
    low: float,
    high: float = float("inf"),
    *,
    whole: bool = False,
    open_low: bool = False,
) -> None:
    """Raise InvalidOption unless low ≤ value ≤ high (low < value with `open_low`; an integer with `whole`).

    A whole number without another limit may be as large as 64 bits can hold.
    """
    if whole and isinstance(value, int) and value > _LARGEST:
        high = min(high, _LARGEST)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise InvalidOption(key, value, _range_text(low, high, whole, open_low))
    fits = (low < value if open_low else low <= value) and value <= high
    if not fits or (whole and isinstance(value, float) and not value.is_integer()):
        raise InvalidOption(key, value, _range_text(low, high, whole, open_low))


def _range_text(low: float, high: float, whole: bool, open_low: bool) -> str:
    kind = "a whole number" if whole else "a number"
    if high == float("inf"):
        return f"{kind} {'above' if open_low else 'of at least'} {low:g}"
    return f"{kind} {'above' if open_low else 'from'} {low:g} {'and at most' if open_low else 'to'} {high:g}"
