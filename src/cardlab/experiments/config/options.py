"""From plain mappings to frozen options: what pydantic does not do, the classes behind a registry's keys."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, TypeVar, cast

from cardlab.core.options import check_choice, checked

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
    return build_options(options_class, {key: mapping[key] for key in mapping if key != "name"})


def resolve_class(home: str | type) -> type:
    """The class itself, imported when it is given as "module:Class"."""
    if isinstance(home, type):
        return home
    module, _, class_name = home.partition(":")
    return getattr(import_module(module), class_name)


def build_options(options_class: type[T], mapping: Mapping[str, Any]) -> T:
    """The options that `mapping` describes; InvalidOption for an unknown or missing key and for a wrong value."""
    return options_class(**{str(key): value for key, value in mapping.items()})


def convert(key: str, value: object, hint: Any) -> Any:
    """`value` in the type `hint`, as the types of options are written; InvalidOption under `key`."""
    return checked(key, value, hint)
