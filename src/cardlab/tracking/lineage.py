"""Where a run comes from: code, pipeline, packages and machine, as tags."""

import json
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_PACKAGES = ("cardlab", "torch", "numpy", "numba", "lightning", "mlflow", "optuna", "dvc", "hydra-core")
_WRITTEN_BY_PIPELINE = ("params.yaml", "dvc.lock", "results", "champions")
_DVC = {"dvc.stage": "DVC_STAGE", "dvc.experiment": "DVC_EXP_NAME", "dvc.baseline": "DVC_EXP_BASELINE_REV"}


@cache
def _origin() -> dict[str, str]:
    """What is fixed when a process starts: an edit or commit made later is not the code that runs."""
    return {
        **_git(Path.cwd()),
        "python": platform.python_version(),
        "machine": f"{platform.node()} {platform.system()} {platform.machine()}",
        "cpus": str(os.cpu_count()),
        "versions": json.dumps(package_versions()),
    }


def lineage() -> dict[str, str]:
    """Tags that say what made a run.

    git.commit and git.dirty inside a clone; dvc.stage, dvc.experiment and dvc.baseline inside a stage; python,
    machine, cpus and versions (JSON) always.
    """
    return _origin() | {tag: os.environ[name] for tag, name in _DVC.items() if os.environ.get(name)}


def package_versions() -> dict[str, str]:
    """The installed versions of the packages that results may depend on."""
    versions: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions


def _git(folder: Path) -> dict[str, str]:
    """Commit, and whether tracked files differ from it, those that the pipeline itself writes apart."""
    commit = _run_git(folder, "rev-parse", "HEAD")
    if commit is None:
        return {}
    apart = [f":(top,exclude){path}" for path in _WRITTEN_BY_PIPELINE]
    changed = _run_git(folder, "status", "--porcelain", "--untracked-files=no", "--", ":(top)", *apart)
    return {"git.commit": commit, "git.dirty": str(bool(changed)).lower()}


def _run_git(folder: Path, *arguments: str) -> str | None:
    """Output of a git command; None outside a clone or without git."""
    command = ["git", "-C", str(folder), "--no-optional-locks", *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip()
