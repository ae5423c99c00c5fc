"""Checks the benchmark before `dvc exp run` changes a file.

DVC composes params.yaml with Hydra, which imports the modules of this folder (hydra.plugins_path in .dvc/config). Hydra
has no hook before DVC writes the composed file, so the method that composes is replaced.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra._internal.hydra import Hydra
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))  # the code of this copy of the project

from cardlab.core.exit_status import run_program
from cardlab.experiments.benchmark import check_benchmark
from cardlab.experiments.config.composition import OwnFolderFirst, PartSource, compose_config

__all__ = ["OwnFolderFirst", "PartSource"]  # Hydra registers the plugins that it finds in a module

_hydra: Any = Hydra
_compose = _hydra.compose_config


def _compose_checked(self: Hydra, config_name: str, overrides: Sequence[str], **options: Any) -> DictConfig:
    """Compose as Hydra does; exit after one line about the first wrong override."""
    _hydra.compose_config = _compose  # the check composes, too, with a Hydra of its own
    GlobalHydra.instance().clear()
    try:
        status = run_program(lambda: check_benchmark(compose_config(config_name, overrides)))
        if status:
            raise SystemExit(status)
        GlobalHydra.instance().initialize(self)
        return _compose(self, config_name, list(overrides), **options)
    finally:
        _hydra.compose_config = _compose_checked


_hydra.compose_config = _compose_checked
