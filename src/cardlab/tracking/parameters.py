"""Nested configurations as MLflow parameters: flat names that MLflow accepts, values as text."""

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from typing import Any, cast

_LONGEST_KEY = 250  # characters: MLflow's limits
_LONGEST_VALUE = 6000
_CUT = " … (cut)"


def flatten(config: Mapping[str, Any]) -> dict[str, str]:
    """`{"agent": {"gamma": 0.99}}` → `{"agent.gamma": "0.99"}`.

    Values that are too long for MLflow are cut and marked.
    """
    return {legal_name(key): _shorten(text) for key, text in leaf_texts(config)}


@cache
def legal_name(name: str) -> str:
    """`name` if MLflow accepts it for parameters, metrics and tags; else a legal name that is unique to it."""
    legal = re.sub(r"[^\w\-. /]", "_", name)
    legal = "/".join("_" if part.strip(".") == "" else part for part in legal.split("/"))
    legal = re.sub(r"^\.\.", "__", legal)
    if legal == name == posixpath.normpath(name) and len(name) <= _LONGEST_KEY:
        return name
    return f"{legal[: _LONGEST_KEY - 9]}-{sha256(name.encode()).hexdigest()[:8]}"


def leaf_texts(value: object, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Key and value of each leaf, as in YAML (true, null); lists and empty groups as JSON."""
    if isinstance(value, Mapping) and value:
        for key, inner in cast(Mapping[Any, object], value).items():
            yield from leaf_texts(inner, f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield prefix, str(value)
    else:
        yield prefix, json.dumps(value, default=str)


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - len(_CUT)] + _CUT
