"""Options classes: each option is declared once, with its default, its limits and its help.

A wrong value is an error of one line that names the key, the value and what is accepted.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import wraps
from inspect import get_annotations
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, cast, dataclass_transform, get_args, get_origin

from pydantic import AllowInfNan, BeforeValidator, ConfigDict, Field, Strict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as pydantic_dataclass

from cardlab.core.messages import LARGEST, InvalidOption, as_written, one_of, refusals

T = TypeVar("T")


def _refuse_text(value: object) -> object:
    """Refuse text, booleans, and whole numbers of more than 64 bits."""
    if isinstance(value, bool | str | bytes) or (isinstance(value, int) and abs(value) > LARGEST):
        raise ValueError("not a number")
    return value


NUMERIC = BeforeValidator(_refuse_text)
"""The last annotation of a number type: Annotated[int, Field(ge=1), NUMERIC]; the schema omits limits after it."""
Whole = Annotated[int, NUMERIC]
"""A whole number of at most 64 bits: 3, 3.0 and 1e7, but neither true nor "3"."""
Positive = Annotated[int, Field(ge=1), NUMERIC]
"""A whole number of at least 1."""
Number = Annotated[float, AllowInfNan(False), NUMERIC]
"""A finite number, but neither true nor "3"."""
Flag = Annotated[bool, Strict()]
"""true or false."""
Text = Annotated[str, Strict()]
"""Text, no number."""


@dataclass(frozen=True)
class _Declared:
    """What `option` returns; `options` turns it into a field."""

    default: Any
    about: str
    factory: Callable[[], Any] | None
    training_only: bool
    limits: Mapping[str, Any]


def option(
    default: T,
    about: str,
    *,
    factory: Callable[[], T] | None = None,
    training_only: bool = False,
    **limits: Any,
) -> T:
    """A field of an options class: its default (or what `factory` returns), its help and its limits.

    The help `about` is one line that stands alone. `limits` are those of pydantic.Field: ge, gt, le, lt, min_length,
    max_length.
    """
    return cast(T, _Declared(default, about, factory, training_only, limits))


_CONFIG = ConfigDict(extra="forbid", validate_default=True)


@dataclass_transform(frozen_default=True)
def options(prefix: str) -> Callable[[type[T]], type[T]]:
    """Make the class a frozen dataclass with checked values; a wrong one raises InvalidOption for PREFIX.FIELD.

    Lists become tuples, and whole floats integers. `__post_init__` checks conditions on several fields.
    """

    def decorate(cls: type[T]) -> type[T]:
        for name, hint in get_annotations(cls).items():
            declared = vars(cls).get(name)
            if isinstance(declared, _Declared):
                cls.__annotations__[name] = _annotated(hint, declared)
                given = {"default_factory": declared.factory} if declared.factory else {"default": declared.default}
                setattr(cls, name, cast(Any, field)(**given, metadata={"training_only": declared.training_only}))
        made = cast(Any, pydantic_dataclass(frozen=True, config=_CONFIG)(cls))
        initialise, names = made.__init__, [entry.name for entry in fields(made)]

        @wraps(initialise)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            try:
                initialise(self, **given)
            except ValidationError as error:
                raise refusals(made, error, prefix, given) from None

        made.__init__, made.__prefix__ = init, prefix
        return made

    return decorate


def _annotated(hint: Any, declared: _Declared) -> Any:
    """`hint` with the help and the limits, which do not apply to null."""
    members = get_args(hint)
    if declared.limits and get_origin(hint) in (Union, UnionType) and NoneType in members:
        (inner,) = (member for member in members if member is not NoneType)
        return Annotated[_limited(inner, declared.limits) | None, Field(description=declared.about)]
    return Annotated[_limited(hint, declared.limits), Field(description=declared.about)]


def _limited(hint: Any, limits: Mapping[str, Any]) -> Any:
    """`hint` within `limits`, before NUMERIC."""
    if get_origin(hint) is not Annotated or not limits:
        return Annotated[hint, Field(**limits)] if limits else hint
    return Annotated[hint.__origin__, Field(**limits), *hint.__metadata__]


def checked(key: str, value: object, hint: Any) -> Any:
    """`value` in the type `hint`, e.g. Whole or tuple[Text, ...]; InvalidOption under `key`."""
    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        raise refusals(hint, error, key) from None


def invalid(options: Any, name: str, allowed: str) -> InvalidOption:
    """The error for the value of PREFIX.NAME in an object of an options class."""
    value = getattr(options, name)
    key = f"{options.__prefix__}.{name}".lstrip(".")
    return InvalidOption(key, list(cast(Any, value)) if isinstance(value, tuple) else value, allowed)


def check_together(options: Any, demands: Mapping[str, Mapping[str, object]]) -> None:
    """InvalidOption for PREFIX.FIELD where an option that is set demands other values; `demands`: option → others."""
    for key, others in demands.items():
        for name, wanted in others.items() if getattr(options, key) else ():
            if getattr(options, name) != wanted:
                raise invalid(options, name, f"{as_written(wanted)} with {options.__prefix__}.{key}")


def check_that(fits: object, key: str, value: object, allowed: str) -> None:
    """Raise InvalidOption unless `fits`; for values outside options classes."""
    if not fits:
        raise InvalidOption(key, value, allowed)


def check_choice(key: str, value: object, choices: Collection[object]) -> None:
    """Raise InvalidOption unless `value` is one of `choices`; for choices that no type can list."""
    check_that(value in choices, key, value, one_of(choices))


def check_whole(key: str, value: object, low: int, high: int | None = None) -> int:
    """`value` as a whole number in [low, high], else InvalidOption; for values outside options classes."""
    return checked(key, value, _limited(Whole, {"ge": low} if high is None else {"ge": low, "le": high}))
