"""The origin of a run as tags: code, command, DVC stage, package versions and machine."""

import json
import os
import platform
import shlex
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from cardlab.core.addresses import without_password

NOTE = "mlflow.note.content"
"""Tag of runs and experiments: the description in the MLflow UI, as Markdown."""
VERSIONS = "versions"
"""Tag: the versions of the packages that may change results, as JSON."""
TRIAL_STATE = "sweep.state"  # tag of a trial: running, complete, pruned, failed or killed

_PACKAGES = ("cardlab", "torch", "numpy", "numba", "lightning", "mlflow", "optuna", "dvc", "hydra-core")
_WRITTEN_BY_PIPELINE = ("params.yaml", "dvc.lock", "learning_curves", "results", "champions")
_DVC = {"dvc.stage": "DVC_STAGE", "dvc.experiment": "DVC_EXP_NAME", "dvc.baseline": "DVC_EXP_BASELINE_REV"}


def lineage() -> dict[str, str]:
    """Tags for a run.

    git.commit and git.dirty in a clone; dvc.stage, dvc.experiment and dvc.baseline in a DVC stage; always python,
    machine, cpus and versions (JSON).
    """
    return _origin() | {tag: os.environ[name] for tag, name in _DVC.items() if os.environ.get(name)}


def describe_run(about: str) -> str:
    """The description of a run in two lines: `about`, and the command that made it."""
    stage, program = os.environ.get("DVC_STAGE"), Path(sys.argv[0]).name or "python"
    command = f"dvc repro {stage}" if stage else shlex.join([program, *sys.argv[1:]])
    return f"{about}\n\n`{without_password(command)}`"


def add_score(description: str, score: str) -> str:
    """A description by `describe_run` with the line `score` before the command, instead of an earlier one."""
    about, _, command = description.rpartition("\n\n")
    return "\n\n".join([about.partition("\n\n")[0], score, command]) if about else description


def described_command(description: str) -> str:
    """The command in a description by `describe_run`; empty for another text."""
    last = description.rpartition("\n\n")[2]
    return last.strip("`") if last.startswith("`") else ""


@cache
def _origin() -> dict[str, str]:
    """The tags at the first call: later edits and commits do not change the code of a running process."""
    return {
        **_git(Path.cwd()),
        "python": platform.python_version(),
        "machine": f"{platform.node()} {platform.system()} {platform.machine()}",
        "cpus": str(os.cpu_count()),
        VERSIONS: json.dumps(_package_versions()),
    }


def _package_versions() -> dict[str, str]:
    """The installed versions of the packages that may change results."""
    versions: dict[str, str] = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def _git(folder: Path) -> dict[str, str]:
    """The commit, and whether tracked files differ from it; files that the pipeline writes are ignored."""
    commit = run_git(folder, "rev-parse", "HEAD")
    if commit is None:
        return {}
    ignored = [f":(top,exclude){path}" for path in _WRITTEN_BY_PIPELINE]
    changed = run_git(folder, "status", "--porcelain", "--untracked-files=no", "--", ":(top)", *ignored)
    return {"git.commit": commit, "git.dirty": str(bool(changed)).lower()}


def run_git(folder: Path, *arguments: str) -> str | None:
    """The output of a git command; None outside of a clone or without git."""
    command = ["git", "-C", str(folder), "--no-optional-locks", *arguments]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip()
