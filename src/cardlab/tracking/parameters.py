"""A nested configuration as the flat table of texts that MLflow keeps, under names that it accepts."""

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Any, cast

_LONGEST_KEY = 250  # characters; both limits are MLflow's
_LONGEST_VALUE = 6000
_CUT = " … (cut)"


def flatten(config: Mapping[str, Any]) -> dict[str, str]:
    """`{"agent": {"gamma": 0.99}}` as `{"agent.gamma": "0.99"}`.

    Values are written as in the configuration files (true, null), lists and empty groups as JSON; what MLflow cannot
    hold is cut with a mark, the whole configuration being an artifact of the run.
    """
    return {legal_name(key): _shorten(value) for key, value in _leaves("", config)}


@cache
def legal_name(name: str) -> str:
    """`name` where MLflow accepts it for a parameter, metric or tag; else a legal name that no other name maps to."""
    legal = re.sub(r"[^\w\-. /]", "_", name)
    legal = "/".join("_" if part.strip(".") == "" else part for part in legal.split("/"))
    legal = re.sub(r"^\.\.", "__", legal)
    if legal == name == posixpath.normpath(name) and len(name) <= _LONGEST_KEY:
        return name
    return f"{legal[: _LONGEST_KEY - 9]}-{sha256(name.encode()).hexdigest()[:8]}"


def _leaves(prefix: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, inner in cast(Mapping[Any, object], value).items():
            yield from _leaves(f"{prefix}.{key}" if prefix else str(key), inner)
    else:
        yield prefix, _text(value)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool | Mapping | Sequence):
        return json.dumps(value, default=str)
    return str(value)


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - len(_CUT)] + _CUT
