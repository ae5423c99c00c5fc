"""The origin of a run as tags: code, command, DVC stage, package versions and machine."""

import json
import logging
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from difflib import unified_diff
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import yaml

from cardlab.agents.specs import CHAMPIONS
from cardlab.core.code_digest import COMPUTING
from cardlab.core.messages import without_password
from cardlab.core.running_code import running_files

_logger = logging.getLogger(__name__)

NOTE = "mlflow.note.content"  # tag of runs and experiments: the description in the MLflow UI, as Markdown
DIGEST = "policy.digest"  # tag of runs, models and registered versions: the digest of the policy's files
VERSIONS = "versions"  # tag: the versions of the packages that may change results, as JSON
PARENT = "mlflow.parentRunId"  # tag: the id of the run that a run is shown under
CPU_SECONDS = "usage/cpu_seconds"  # metric of a training and of a sweep
CONFIG = "config.json"  # artifact of a run, and file beside a policy: the composed configuration
CURVE = "curve.csv"  # artifact of a training, and file of a champion: the learning curve
UNCOMMITTED = "uncommitted.diff"  # artifact of a run: what its commit lacks
CODE = "code"  # tag of a training: the digest of its code
LINKS = "links"  # tag of a training: folder → digest of the policies that it starts from or meets, as JSON
FOLDER = "git.folder"  # tag: the working folder, relative to the top of the clone
RESTORED = "restored_from"  # tag of a run that was made again from a champion's folder: the id of the original
PRUNED_TRIAL = "sweep.pruned"  # tag of a pruned trial: the reason

_PACKAGES = ("cardlab", *COMPUTING, "lightning", "mlflow", "optuna", "dvc", "hydra-core")
_LARGEST_DIFF = 1_000_000  # characters
_DVC = {"dvc.stage": "DVC_STAGE", "dvc.experiment": "DVC_EXP_NAME", "dvc.baseline": "DVC_EXP_BASELINE_REV"}


def lineage() -> dict[str, str]:
    """Tags for a run.

    git.commit, git.dirty and git.folder in a clone; dvc.stage, dvc.experiment and dvc.baseline in a DVC stage; always
    python, machine, cpus and versions (JSON).
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
    commit = run_git(Path.cwd(), "rev-parse", "HEAD")
    versions: dict[str, str] = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return {
        **({} if commit is None else _clone_tags(commit)),
        "python": platform.python_version(),
        "machine": f"{platform.node()} {platform.system()} {platform.machine()}",
        "cpus": str(os.cpu_count()),
        VERSIONS: json.dumps(versions),
    }


def _clone_tags(commit: str) -> dict[str, str]:
    folder = run_git(Path.cwd(), "rev-parse", "--show-prefix") or "."
    return {"git.commit": commit, "git.dirty": str(bool(uncommitted(Path.cwd()))).lower(), FOLDER: folder.rstrip("/")}


@cache
def uncommitted(folder: Path) -> str:
    """What the commit lacks at the first call, as a diff: edits of tracked files, and new files that this process runs.

    Files that the pipeline writes are left out. At most 1 MB. Empty outside of a clone.
    """
    top = run_git(folder, "rev-parse", "--show-toplevel")
    if top is None:
        return ""
    ignored = [f":(top,exclude){path}" for path in _written_by_pipeline(folder, Path(top))]
    diff = run_git(folder, "diff", "HEAD", "--binary", "--no-color", "--no-ext-diff", "--", ":(top)", *ignored) or ""
    new = (run_git(folder, "ls-files", "--others", "--exclude-standard", "--full-name", "-z", top) or "").split("\0")
    running = running_files()
    for path in (Path(top, name) for name in new if name):
        if path.resolve() in running:
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
            name = path.relative_to(top).as_posix()
            diff += "".join(["\n\n", *unified_diff([], lines, "/dev/null", f"b/{name}")])
    kept = diff.strip("\n") + "\n\n" if diff else ""  # a binary patch ends with an empty line
    return kept if len(kept) <= _LARGEST_DIFF else kept[:_LARGEST_DIFF] + "\n… (cut)\n"


def _written_by_pipeline(folder: Path, top: Path) -> set[str]:
    """Paths below `top` that `dvc repro`, `promote` and `compose` write: params.yaml, locks, champions, outs."""
    project = next((each for each in (folder, *folder.parents) if (each / "dvc.yaml").is_file()), None)
    if project is None or not project.is_relative_to(top):
        return set()
    written = {project / "params.yaml", project / CHAMPIONS}
    for file in (project / "dvc.yaml", *project.glob("*/dvc.yaml")):
        written.add(file.with_name("dvc.lock"))
        for stage in _stages(file):
            outs = [out for kind in ("outs", "metrics", "plots") for out in stage.get(kind, ())]
            names = [str(next(iter(out)) if isinstance(out, dict) else out).partition("${")[0] for out in outs]
            written |= {Path(os.path.normpath(file.parent / stage.get("wdir", "") / name)) for name in names}
    return {path.relative_to(top).as_posix() for path in written if path != project and path.is_relative_to(top)}


def _stages(file: Path) -> list[Mapping[str, Any]]:
    """The stages of a dvc.yaml; none if it is damaged."""
    try:
        return [stage.get("do", stage) for stage in yaml.safe_load(file.read_text())["stages"].values()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError):
        return []


def run_git(folder: Path, *arguments: str) -> str | None:
    """The output of a git command; None outside of a clone or without git. Warns where git refuses to read a clone."""
    command = ["git", "-C", str(folder), "--no-optional-locks", *arguments]
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20, env=environment)
    except subprocess.CalledProcessError as error:
        _warn_of_refusal(error.stderr)
        return None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return result.stdout.strip("\n")


@cache
def _warn_of_refusal(message: str) -> None:
    """Warn once of a checkout of another owner, with the command that git gives."""
    if "dubious ownership" in message:
        command = next((line.strip() for line in message.splitlines() if "git config" in line), "")
        _logger.warning("%s; the commit is not recorded; run: %s", message.splitlines()[0], command)
