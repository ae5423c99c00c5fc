"""Addresses of services without their credentials, for everything that is printed or logged."""

import re
from collections.abc import Mapping
from typing import Any, cast

NOT_IN_DIGEST = "decides what is printed"

# Without limits: quadratic in a long text. A password may hold spaces; what follows a port does not belong to it.
_ADDRESS = re.compile(r"[\w+.-]{1,40}://(?:[^\s/@:\[]{0,80}:(?!\d+(?:[/\s]|$))[^\n]{0,200}@)?\S+")
_QUERY = re.compile(r"\?[\w.-]+=.*")
_PLAIN_QUERY = frozenset({"mode", "uri", "timeout", "cache", "sslmode", "connect_timeout", "application_name"})


def without_password(text: str) -> str:
    """The text with passwords, tokens and values of queries in its addresses replaced by an ellipsis."""
    return _ADDRESS.sub(_masked, text)


def _masked(found: re.Match[str]) -> str:
    """One address. A URL parser would show the rest of a password that holds an unescaped `/`, `?`, `#` or `@`."""
    scheme, _, rest = found[0].partition("://")
    query = _QUERY.search(rest)
    head, tail = (rest[: query.start()], query[0]) if query else (rest, "")
    if "@" in tail:
        return f"{scheme}://…"  # part of a password, or of a query: none of it can be told apart
    before, at, host = head.rpartition("@")
    user = before.partition(":")[0] + ":" if ":" in before else ""
    pairs = [_masked_pair(pair) for pair in tail.removeprefix("?").split("&")]
    return f"{scheme}://{user}{'…@' if at else ''}{host}{'?' if tail else ''}{'&'.join(pairs)}"


def _masked_pair(pair: str) -> str:
    name, equals, _ = pair.partition("=")
    return pair if name in _PLAIN_QUERY or not pair else f"{name}=…" if equals else "…"


def without_passwords(value: Any) -> Any:
    """A nested configuration whose texts are `without_password`."""
    if isinstance(value, Mapping):
        return {key: without_passwords(inner) for key, inner in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return [without_passwords(inner) for inner in cast(list[Any], value)]
    return without_password(value) if isinstance(value, str) else value
