"""Hydra's source of configuration files, which completes the files of parts: `name`, and options at their defaults.

Also the lines of a file that has all options of a class, each with its help as a comment.
"""

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, cast

import yaml
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.plugins.config_source import ConfigResult
from omegaconf import DictConfig, OmegaConf, open_dict

from cardlab.core.files import write_atomically
from cardlab.core.parts import (
    GROUPS,
    NAME,
    TARGET,
    find_object,
    option_defaults,
    own_files,
    read_inherited,
    shipped_folder,
)


class PartSource(FileConfigSource):
    """Files of the folders of configurations.

    A part without `name` has that of its file, also when it inherits from another. Options of its class that it leaves
    out are there with their defaults, so that the command line and `dvc exp run -S` can set them.
    """

    @staticmethod
    def scheme() -> str:
        """The scheme of its addresses, as file is that of Hydra's own."""
        return "part"

    def load_config(self, config_path: str) -> ConfigResult:
        """Hydra calls this for every file."""
        result = super().load_config(config_path)
        group, _, name = self._normalize_file_name(config_path).removesuffix(".yaml").partition("/")
        if group in GROUPS and name and isinstance(result.config, DictConfig):
            with open_dict(result.config):
                _complete(group, name, result.config, is_shipped=Path(self.path) == shipped_folder())
        return result


def _complete(group: str, name: str, config: DictConfig, *, is_shipped: bool) -> None:
    data = cast(Mapping[str, Any], config)
    if TARGET in data and not is_shipped:  # shipped files name every option
        inherited = read_inherited(group, cast(dict[str, Any], OmegaConf.to_container(config, resolve=False)))
        for key, value in option_defaults(find_object(f"{group}.{TARGET}", data[TARGET])).items():
            if key not in data and key not in inherited:
                config[key] = value
    if NAME not in data:
        config[NAME] = name.rpartition("/")[2]


def option_help(part: Any) -> dict[str, str]:
    """Option → its help, of a class whose fields have descriptions, as `option` gives them; else none."""
    from pydantic import TypeAdapter  # noqa: PLC0415

    if not is_dataclass(part):
        return {}
    properties: Mapping[str, Any] = TypeAdapter[Any](cast(Any, part)).json_schema().get("properties", {})
    return {key: entry["description"] for key, entry in properties.items() if "description" in entry}


def option_lines(part: type, indent: str = "") -> Iterator[tuple[str, str]]:
    """Key and lines of each option of a class: its default, and its help as a comment."""
    texts = option_help(part)
    for key, value in option_defaults(part).items():
        if is_dataclass(value) and not isinstance(value, type):
            lines = (lines for _, lines in option_lines(type(value), f"{indent}  "))
            yield key, "\n".join((f"{indent}{key}:", *lines))
        elif not (key == "policy" and hasattr(part, "leaf")):  # cardlab evaluate gives that of a search
            yield key, f"{indent}{key}: {_written(value)}" + (f"  # {texts[key]}" if key in texts else "")


def write_options() -> list[Path]:
    """Add the options that the project's files of parts leave out, with their help; returns the files changed."""
    changed: list[Path] = []
    for group, path, data in own_files():
        known = {**read_inherited(group, dict(data)), **data}
        part = find_object(f"{group}.{TARGET}", data[TARGET])
        added = [lines for key, lines in option_lines(part) if key not in known]
        if added:
            text = path.read_text(encoding="utf-8")
            write_atomically(path, "\n".join([text.removesuffix("\n"), *added, ""]))
            changed.append(path)
    return changed


def _written(value: object) -> str:
    """`value` in YAML, on one line."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 100_000:
        return f"{value:_}"
    return yaml.safe_dump(value, default_flow_style=True, width=1000, allow_unicode=True).removesuffix("...\n").strip()
