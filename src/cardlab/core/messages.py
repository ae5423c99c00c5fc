"""What is printed: errors about configurations in one line each, with key, value and what is accepted; no passwords."""

import re
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pydantic import ValidationError

NOT_IN_DIGEST = "makes messages"

LARGEST = 2**63 - 1  # whole numbers have at most 64 bits
_MAX_LENGTH = 300  # of a value in a message
_NO_KEY = "no such key"
_NUMBER = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?")  # shown in quotes if it is a text

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
        return f"{scheme}://…"  # a password may be anywhere in it
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


class ConfigurationError(ValueError):
    """A wrong command line or configuration; the message is one line. `others` are further errors beside it."""

    others: "tuple[ConfigurationError, ...]" = ()


class InvalidConfiguration(ConfigurationError):
    """A configuration that cannot be composed; the message is one line, fit for a terminal."""


class InvalidOption(ConfigurationError):
    """An option has a value that is not accepted, or no option has this key; the message is one line."""

    def __init__(self, key: str, value: object, allowed: str) -> None:
        demand = allowed if allowed.startswith(_NO_KEY) else f"must be {allowed}"
        is_text = isinstance(value, str) and _NUMBER.fullmatch(value) and allowed.startswith(("a number", "a whole"))
        text = f"'{value}'" if is_text else as_written(value)
        super().__init__(f"{shortened(key)}={shortened(without_password(text))}: {demand}")
        self.key = key
        self.value = value
        self.allowed = allowed

    def __reduce__(self) -> tuple[type["InvalidOption"], tuple[str, object, str]]:
        """Pickle the three parts, so that worker processes can raise it too."""
        return (type(self), (self.key, self.value, self.allowed))


def combined(errors: Iterable[ConfigurationError]) -> ConfigurationError:
    """The first error, with the others beside it: the first of each key and value."""
    found: dict[str, ConfigurationError] = {}
    for each in (each for error in errors for each in (error, *error.others)):
        found.setdefault(f"{each.key}={as_written(each.value)}" if isinstance(each, InvalidOption) else str(each), each)
    first, *others = found.values()
    first.others = tuple(others)
    return first


@contextmanager
def collected(errors: list[ConfigurationError]) -> Generator[None]:
    """Inside, an error is added to `errors`."""
    try:
        yield
    except ConfigurationError as error:
        errors.append(error)


def left_out(key: str, demand: str = "given") -> InvalidOption:
    """The error for a key without a value."""
    return InvalidOption(key, "(left out)", demand)


def as_written(value: object) -> str:
    """`value` as in a configuration: null, true, [a,b], {a: b}."""
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
    except ValueError:  # Python refuses to write thousands of digits
        return hex(cast(int, value))


def shortened(text: str) -> str:
    """`text`, or the beginning of a long one."""
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH // 3]}… ({len(text)} characters)"


def refusals(hint: Any, error: "ValidationError", prefix: str, given: Mapping[str, Any] | None = None) -> InvalidOption:
    """Pydantic's errors about a value of type `hint`, the first of each key, under the keys of the command line."""
    from pydantic import TypeAdapter  # noqa: PLC0415  slow to import; `import cardlab` needs none of it

    schema = TypeAdapter(hint).json_schema()
    found: dict[str, InvalidOption] = {}
    places = [details["loc"] for details in error.errors()]
    for details in error.errors():
        if details["type"] == "too_short" and any(place[:-1] == details["loc"] for place in places if place):
            continue  # a list counts only its right entries
        refusal = _refusal(schema, details, prefix, given)
        found.setdefault(refusal.key, refusal)
    first, *others = found.values()
    first.others = tuple(others)
    return first


def _refusal(
    schema: Mapping[str, Any], first: Mapping[str, Any], prefix: str, given: Mapping[str, Any] | None
) -> InvalidOption:
    """One of pydantic's errors about a value of this schema."""
    key, node, kind = prefix, schema, first["type"]
    value = first["input"]
    for place in first["loc"]:
        inner = _inner(node, place)
        if kind == "unexpected_keyword_argument" and inner is None:
            return unknown_key(_joined(key, place), value, [_joined(key, name) for name in node.get("properties", ())])
        if inner is None or (kind == "missing" and isinstance(place, int)):
            value = first["input"]
            break  # a member of a union, or a missing entry of a list: no part of the key
        key, node = _joined(key, place), _resolved(inner, schema)
    if kind == "missing" and not isinstance(first["loc"][-1], int):
        return left_out(key)
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, InvalidOption):  # from __post_init__, which has converted values
        written = (given or {}).get(cause.key.rpartition(".")[2])
        key, value, demand = cause.key, written if written == cause.value else cause.value, cause.allowed
    else:
        demand = accepted(node, value, schema)
    return InvalidOption(key, value, demand)


def _joined(key: str, place: int | str) -> str:
    return f"{key}[{place}]" if isinstance(place, int) else f"{key}.{place}".lstrip(".")


def _resolved(node: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema that `node` refers to, or itself."""
    if "$ref" in node:
        return schema["$defs"][node["$ref"].rpartition("/")[2]]
    return node


def _inner(node: Mapping[str, Any], place: int | str) -> Mapping[str, Any] | None:
    """The schema of the entry `place` of a value of schema `node`; None when it has no such entry."""
    for member in (node, *node.get("anyOf", ())):
        if isinstance(place, int) and "prefixItems" in member:
            return member["prefixItems"][place]
        if isinstance(place, int) and "items" in member:
            return member["items"]
        if place in member.get("properties", {}):
            return member["properties"][place]
        if isinstance(member.get("additionalProperties"), Mapping):
            return member["additionalProperties"]
        if member.get("additionalProperties") is True:
            return {}
    return None


def accepted(node: Mapping[str, Any], value: object = None, schema: Mapping[str, Any] | None = None) -> str:
    """The accepted values of a JSON schema, in words."""
    if "anyOf" in node:
        return " or ".join(accepted(_resolved(member, schema or {}), value, schema) for member in node["anyOf"])
    if "enum" in node or "const" in node:
        return one_of(node.get("enum") or [node["const"]])
    kind = node.get("type")
    if kind in ("integer", "number"):
        return _range_text(node, value)
    if kind == "array":
        return _list_text(node)
    at_most = f" of at most {node['maxProperties']} entries" if "maxProperties" in node else ""
    return {
        "boolean": "true or false",
        "string": "text that is not empty" if node.get("minLength") else "text",
        "object": f"a mapping{at_most}, as in {{name: value}}",
        "null": "null",
    }.get(str(kind), "another value")


def _list_text(node: Mapping[str, Any]) -> str:
    low, high = node.get("minItems", 0), node.get("maxItems")
    if low == high:
        return f"a list of {low} entries"
    bounds = f"{low} to {high}" if high else f"at least {low}" if low else ""
    return f"a list of {bounds} entries, as in [a,b]" if bounds else "a list, as in [a,b]"


def one_of(choices: Collection[object]) -> str:
    """The accepted values of a choice, in words."""
    return ("one of " if len(choices) > 1 else "") + ", ".join(map(as_written, choices))


def _range_text(node: Mapping[str, Any], value: object) -> str:
    kind = "a whole number" if node["type"] == "integer" else "a number"
    low, above = node.get("minimum"), node.get("exclusiveMinimum")
    high, below = node.get("maximum"), node.get("exclusiveMaximum")
    if high is None and below is None and node["type"] == "integer" and isinstance(value, int) and value > LARGEST:
        high = LARGEST
    if (low is None and above is None) or (high is None and below is None):
        bounds = {"of at least": low, "above": above, "of at most": high, "below": below}
        return " ".join([kind, *(f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None)])
    start = f"({above:g}" if low is None else f"[{low:g}"
    return f"{kind} in {start}, {f'{below:g})' if high is None else f'{high:g}]'}"


def unknown_key(key: str, value: object, known: Sequence[str], owner: str = "the configuration") -> InvalidOption:
    """The error for an unknown key, which names the `known` keys beside it, and the one that was probably meant."""
    parent = key.rpartition(".")[0]
    siblings = [name.rpartition(".")[2] for name in known if name.rpartition(".")[0] == parent]
    hints = [f"did you mean {near}?"] if (near := _nearest_key(key, known)) else []
    hints += [f"{parent or owner} takes {', '.join(siblings)}"] if siblings else []
    return InvalidOption(key, value, "; ".join([_NO_KEY, " ".join(hints)]) if hints else _NO_KEY)


def _nearest_key(key: str, known: Sequence[str]) -> str | None:
    """The key of this name in a group inside or beside the parent (agent.gamma for gamma), or one with a near name."""
    parent, _, last = key.rpartition(".")
    group = parent.rpartition(".")[0]
    inside = [name for name in known if not parent or name.startswith(f"{parent}.")]
    beside = [name for name in known if parent and name.rpartition(".")[0].rpartition(".")[0] == group]
    for name in (*inside, *beside):
        words = name.rpartition(".")[2].split("_")  # lr is learning_rate
        if name.endswith(f".{last}") or (len(words) > 1 and last == "".join(word[:1] for word in words)):
            return name
    siblings = {name.rpartition(".")[2]: name for name in inside if name.rpartition(".")[0] == parent}
    deeper = {name.rpartition(".")[2]: name for name in inside if name.rpartition(".")[0] != parent}
    for names, likeness in ((siblings, 0.85), (deeper, 0.85), (siblings, 0.65)):
        if near := get_close_matches(last, names, n=1, cutoff=likeness):
            return names[near[0]]
    return last if last in known else None
