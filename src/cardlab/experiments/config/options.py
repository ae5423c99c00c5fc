"""From plain mappings to frozen options, by the registry key of their class."""

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any, cast

from cardlab.core.options import ConfigurationError, check_choice


class InvalidConfiguration(ConfigurationError):
    """A configuration that cannot be composed; the message is one line, fit for a terminal."""


Registry = Mapping[str, str | type]
"""Registry key → options class, or its place as "module:Class"."""


def build_part(prefix: str, mapping: Mapping[str, Any], registry: Registry) -> Any:
    """The options of one group: `mapping["name"]` is the registry key, the other entries are its options.

    `prefix` is the group on the command line, e.g. "agent". Raises InvalidOption.
    """
    name = mapping.get("name")
    check_choice(f"{prefix}.name", name, list(registry))
    options_class = resolve_class(registry[cast(str, name)])
    return options_class(**{str(key): value for key, value in mapping.items() if key != "name"})


def resolve_class(home: str | type) -> type:
    """The class, imported when it is given as "module:Class"."""
    return home if isinstance(home, type) else resolve_name(home)
