"""Hydra's source of configuration files, which completes the files of parts: `name`, and options at their defaults."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.plugins.config_source import ConfigResult
from omegaconf import DictConfig, OmegaConf, open_dict

from cardlab.core.parts import GROUPS, NAME, TARGET, find_object, option_defaults, read_inherited, shipped_folder


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
