"""From plain mappings to frozen options: keys, types and limits are checked, and named when they are wrong.

The limits are the options' own (`__post_init__`); what is checked here is what every dataclass shares: that there is
such a key, that none is missing, that each value is of the type that the field declares.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from difflib import get_close_matches
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from cardlab.core.options import InvalidOption, check_choice

T = TypeVar("T")


class InvalidConfiguration(ValueError):
    """A configuration that cannot be composed; the message is one line, fit for a terminal."""


Registry = Mapping[str, str | type]
"""Registry key → options class, or where it stands, as "module:Class"."""


def build_part(prefix: str, mapping: Mapping[str, Any], registry: Registry) -> Any:
    """The options of one group: `mapping["name"]` is the registry key, the rest are its options.

    `prefix` is the group as the CLI names it, e.g. "agent". InvalidOption for whatever does not fit.
    """
    name = mapping.get("name")
    check_choice(f"{prefix}.name", name, list(registry))
    options_class = resolve_class(registry[cast(str, name)])
    return build_options(options_class, {key: mapping[key] for key in mapping if key != "name"}, prefix)


def resolve_class(home: str | type) -> type:
    """The class itself, imported when it is given as "module:Class"."""
    if isinstance(home, type):
        return home
    module, _, class_name = home.partition(":")
    return getattr(import_module(module), class_name)


def build_options(options_class: type[T], mapping: Mapping[str, Any], prefix: str) -> T:
    """The dataclass `options_class` made from `mapping`, whose keys the CLI writes below `prefix`.

    InvalidOption for an unknown or a missing key, for a value of another type, and for what the class itself refuses.
    """
    try:
        return options_class(**check_options(options_class, mapping, prefix))
    except InvalidOption as refusal:
        given = mapping.get(refusal.key.removeprefix(f"{prefix}."), refusal.value)
        raise InvalidOption(refusal.key, given, refusal.allowed) from refusal  # the value as it was written


def check_options(options_class: type, mapping: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """`mapping` with every value in the type of its field; InvalidOption as for `build_options`."""
    hints = get_type_hints(options_class)
    known = {field.name: field for field in fields(options_class) if field.init}
    for key, value in mapping.items():
        if key not in known:
            raise unknown_key(f"{prefix}.{key}", value, [f"{prefix}.{name}" for name in known])
    for name, field in known.items():
        if name not in mapping and _is_required(field):
            raise InvalidOption(f"{prefix}.{name}", "(left out)", "given")
    return {key: convert(f"{prefix}.{key}", value, hints[key]) for key, value in mapping.items()}


def unknown_key(key: str, value: object, known: Sequence[str], owner: str = "the configuration") -> InvalidOption:
    """What to raise for a key that nobody knows: its siblings among the `known` ones, and the nearest, are named."""
    parent, _, last = key.rpartition(".")
    siblings = [name.rpartition(".")[2] for name in known if name.rpartition(".")[0] == parent]
    near = get_close_matches(last, siblings, n=1, cutoff=0.65)
    listed = f"{parent or owner} takes {', '.join(siblings)}" if siblings else "there is no such key"
    hint = f"did you mean {f'{parent}.' if parent else ''}{near[0]}? " if near else ""
    return InvalidOption(key, value, f"left out: {hint}{listed}")


def convert(key: str, value: Any, hint: Any) -> Any:
    """`value` in the type `hint`: whole floats become integers, lists tuples; InvalidOption when it is another type."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _convert_union(key, value, get_args(hint))
    if origin is tuple:
        return _convert_tuple(key, value, get_args(hint))
    if origin in (Sequence, list):
        return _convert_tuple(key, value, (get_args(hint)[0], Ellipsis))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _convert_mapping(key, value, get_args(hint))
    if is_dataclass(hint) and isinstance(hint, type):
        return value if isinstance(value, hint) else build_options(hint, _mapping(key, value), key)
    return _convert_plain(key, value, hint)


def _convert_plain(key: str, value: Any, hint: Any) -> Any:
    if get_origin(hint) is Literal:
        check_choice(key, value, get_args(hint))
        return value
    if hint not in _SCALARS:
        return value  # Any, or a type that only its owner can check
    read, allowed = _SCALARS[hint]
    converted = read(value)
    if converted is None:
        raise InvalidOption(key, value, allowed)
    return converted


def _convert_union(key: str, value: Any, members: Sequence[Any]) -> Any:
    if value is None and NoneType in members:
        return None
    refusals: list[InvalidOption] = []
    for member in members:
        if member is NoneType:
            continue
        try:
            return convert(key, value, member)
        except InvalidOption as refusal:
            refusals.append(refusal)
    allowed = [refusal.allowed for refusal in refusals] + ["null"] * (NoneType in members)
    raise InvalidOption(refusals[0].key, refusals[0].value, " or ".join(allowed))


def _convert_tuple(key: str, value: Any, members: Sequence[Any]) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise InvalidOption(key, value, "a list, as in [1,2]")
    if len(members) == 2 and members[1] is Ellipsis:
        return tuple(convert(f"{key}[{index}]", entry, members[0]) for index, entry in enumerate(value))
    if len(value) != len(members):
        raise InvalidOption(key, value, f"a list of {len(members)} entries")
    pairs = zip(value, members, strict=True)
    return tuple(convert(f"{key}[{index}]", entry, member) for index, (entry, member) in enumerate(pairs))


def _convert_mapping(key: str, value: Any, members: Sequence[Any]) -> dict[str, Any]:
    hint = members[1] if len(members) == 2 else Any
    return {str(name): convert(f"{key}.{name}", entry, hint) for name, entry in _mapping(key, value).items()}


def _mapping(key: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidOption(key, value, "a mapping, as in {name: value}")
    return cast(Mapping[str, Any], value)


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _whole(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


_SCALARS: dict[Any, tuple[Callable[[Any], Any], str]] = {
    int: (_whole, "a whole number"),
    float: (_number, "a number"),
    bool: (lambda value: value if isinstance(value, bool) else None, "true or false"),
    str: (lambda value: value if isinstance(value, str) else None, "text"),
}
"""Type → (value in this type or None, what is allowed)."""
