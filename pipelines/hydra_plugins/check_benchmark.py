"""Checks the benchmark before `dvc exp run` changes a file, and that no edit of params.yaml is lost.

DVC composes params.yaml with Hydra, which imports the modules of this folder (hydra.plugins_path in .dvc/config). Hydra
has no hook before DVC writes the composed file, so the methods that compose it and make its text are replaced.
"""

import hashlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra._internal.hydra import Hydra
from hydra.core.global_hydra import GlobalHydra
from omegaconf import DictConfig, OmegaConf

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "src"))  # the code of this copy of the project

from cardlab.cli.compose import HEADER, first_difference, written_params
from cardlab.core.exit_status import run_program
from cardlab.core.messages import InvalidConfiguration
from cardlab.experiments.benchmark import check_benchmark
from cardlab.experiments.config.composition import OwnFolderFirst, PartSource, compose_config
from cardlab.experiments.stage_code import PARAMS

__all__ = ["OwnFolderFirst", "PartSource"]  # Hydra registers the plugins that it finds in a module

WRITTEN = ROOT / ".dvc" / "tmp" / "written_params"  # a digest of each params.yaml that was written here, one a line

_hydra: Any = Hydra
_compose = _hydra.compose_config
_to_yaml = OmegaConf.to_yaml


def _check(config_name: str, overrides: Sequence[str]) -> None:
    """Raise ConfigurationError for a wrong override, or a params.yaml whose content would be lost."""
    check_benchmark(compose_config(config_name, overrides))
    path = ROOT / PARAMS
    if not path.exists():
        return
    text = path.read_bytes()
    committed = subprocess.run(["git", "show", f"HEAD:./{PARAMS}"], cwd=ROOT, capture_output=True, check=False).stdout
    if text == committed or _digest(text) in (WRITTEN.read_text() if WRITTEN.exists() else ""):
        return
    key = first_difference(compose_config(config_name, []), written_params(path))
    if key:
        hint = f"set it in conf/ or by -S KEY=VALUE, and run `git checkout {PARAMS}`; or commit {PARAMS}"
        raise InvalidConfiguration(
            f"{PARAMS} was edited at {key}, and `dvc exp run` writes it again from conf/; {hint}"
        )


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _to_yaml_with_header(cfg: Any, **options: Any) -> str:
    """The text of params.yaml, which DVC writes next; its digest is kept."""
    OmegaConf.to_yaml = _to_yaml
    text = HEADER + _to_yaml(cfg, **options)
    WRITTEN.parent.mkdir(parents=True, exist_ok=True)
    with WRITTEN.open("a") as file:
        file.write(f"{_digest(text.encode())}\n")
    return text


def _compose_checked(self: Hydra, config_name: str, overrides: Sequence[str], **options: Any) -> DictConfig:
    """Compose as Hydra does; exit after one line about the first wrong override."""
    _hydra.compose_config = _compose  # the check composes, too, with a Hydra of its own
    GlobalHydra.instance().clear()
    try:
        status = run_program(lambda: _check(config_name, overrides))
        if status:
            raise SystemExit(status)
        GlobalHydra.instance().initialize(self)
        OmegaConf.to_yaml = _to_yaml_with_header
        return _compose(self, config_name, list(overrides), **options)
    finally:
        _hydra.compose_config = _compose_checked


_hydra.compose_config = _compose_checked
