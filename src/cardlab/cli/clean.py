"""`cardlab clean`: what the files of this project take, and deletion of those that are no longer needed."""

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from filelock import FileLock, Timeout

from cardlab.cli.verbs import Request
from cardlab.core.files import load_json
from cardlab.core.kernel_cache import cache_folder
from cardlab.core.messages import InvalidConfiguration
from cardlab.core.options import checked
from cardlab.evaluation.played_deals import played_scores
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.run_paths import LATEST
from cardlab.tracking.connection import project_root
from cardlab.tracking.lineage import run_git
from cardlab.tracking.policy_lookup import CONFIG

Kind = Literal["earlier", "checkpoints", "scores"]
KINDS = {
    "earlier": "runs of earlier code versions, recorded in mlartifacts/: folders in runs/, but not runs/NAME/latest",
    "checkpoints": "checkpoints of finished trainings, recorded in mlartifacts/: their commands train from the start",
    "scores": "deals that matches have played: commands that need them play them again",
}
_PLACES = {
    "runs": "trainings",
    "models": "policies of the pipeline: `dvc checkout` brings them back",
    "snapshots": "policies kept during the pipeline's trainings",
    ".dvc/cache": "DVC's cache: `dvc gc --workspace` cleans it",
    "mlartifacts": "files of the MLflow runs: `mlflow gc` cleans up behind deleted runs",
    "mlflow.db": "the MLflow store",
    "studies.db": "the studies of sweeps",
}
_CHECKPOINT = "finished.ckpt"


@dataclass(frozen=True)
class Candidate:
    """A file or folder `path` that can be deleted while the lock in the training's `folder` is free."""

    kind: str
    folder: Path
    path: Path


def run(request: Request) -> int:
    """List places and candidates, ask, delete; the exit status."""
    kinds = checked("kinds", request.config["kinds"], list[Kind])
    ask = checked("ask", request.config["ask"], bool) and "--yes" not in request.flags
    root, cache = project_root(), cache_folder()
    for place, meaning in _PLACES.items():
        _print_row(size(root / place), place, meaning)
    _print_row(size(cache), "kernels", f"compiled kernels of this code, in {cache.parent}")
    found = [candidate for candidate in candidates(root) if candidate.kind in kinds]
    others = [kind for kind in KINDS if kind not in kinds]
    more = f"; kinds=[{','.join(others)}] looks for more" if others else ""
    print("\ncan be deleted:" if found else f"\nnothing can be deleted{more}")
    for kind in kinds:
        if chosen := [candidate for candidate in found if candidate.kind == kind]:
            _print_row(sum(size(candidate.path) for candidate in chosen), f"{kind} ({len(chosen)})", KINDS[kind])
            print(*(f"{'':>17}{candidate.folder}" for candidate in chosen), sep="\n")
    if found and (not ask or (sys.stdin.isatty() and input("delete this? [y/N] ").strip().lower() in ("y", "yes"))):
        _print_row(sum(map(delete, found)), "deleted", "")
    elif found:
        print("nothing was deleted; --yes deletes without asking")
    return 0


def candidates(root: Path) -> Iterator[Candidate]:
    """All that can be deleted of the project at `root`."""
    recorded, protected, scores = _recorded(root), _protected(root), played_scores(root)
    if scores.is_dir():
        yield Candidate("scores", scores, scores)
    for checkpoint in sorted(file for file in _files(root / "runs") if file.name == _CHECKPOINT):
        folder = checkpoint.parent
        kept = any(path.is_relative_to(folder) or folder.is_relative_to(path) for path in protected)
        config = None if kept or (folder / "run.json").exists() else recorded.get(_digest(checkpoint))
        if config is None:
            continue
        latest = (folder.parent / LATEST).resolve() == folder.resolve()
        stays = latest or _folder_now(root, config) == folder.name
        yield Candidate("checkpoints", folder, checkpoint) if stays else Candidate("earlier", folder, folder)


def delete(candidate: Candidate) -> int:
    """Delete it, unless a training holds its folder; the bytes that it freed."""
    freed = size(candidate.path)
    try:
        with FileLock(candidate.folder / "lock", timeout=0):
            if candidate.path.is_dir():
                shutil.rmtree(candidate.path)
            else:
                candidate.path.unlink(missing_ok=True)
    except Timeout:
        print(f"kept: {candidate.folder}: a training runs there")
        return 0
    return freed


def size(path: Path) -> int:
    """Bytes of a file, or of all files below a folder; links count nothing."""
    total = 0
    for file in _files(path):
        with suppress(FileNotFoundError):  # a command that runs has removed it
            total += 0 if file.is_symlink() else file.lstat().st_size
    return total


def _files(path: Path) -> Iterator[Path]:
    """The file itself, or all files below a folder."""
    if path.is_file():
        yield path
    for folder, _, names in os.walk(path):
        yield from (Path(folder, name) for name in names)


def _recorded(root: Path) -> dict[str, Mapping[str, Any]]:
    """Digest of each checkpoint in the local MLflow store → configuration of its training."""
    found: dict[str, Mapping[str, Any]] = {}
    for checkpoint in (root / "mlartifacts").glob(f"*/*/artifacts/checkpoint/{_CHECKPOINT}"):
        with suppress(OSError, ValueError):
            found[_digest(checkpoint)] = load_json(checkpoint.parents[1] / CONFIG)
    return found


def _folder_now(root: Path, config: Mapping[str, Any]) -> str | None:
    """Name of the folder in which today's code would train this; None where it would not."""
    from cardlab.training.run import run_folder  # noqa: PLC0415  imports Lightning

    try:
        return run_folder(root / "runs", build_experiment(config, elsewhere=True)).name
    except (ValueError, KeyError, OSError):
        return None


def _protected(root: Path) -> list[Path]:
    """What git tracks below runs/, and what dvc.lock names. InvalidConfiguration where git fails."""
    listed, lock = run_git(root, "ls-files", "-z", "runs"), root / "dvc.lock"
    try:
        if listed is None and (root / ".git").exists():
            raise OSError("git cannot list what it tracks below runs/")
        stages: Mapping[str, Any] = yaml.safe_load(lock.read_text())["stages"] if lock.exists() else {}
    except (OSError, UnicodeDecodeError, TypeError, KeyError, yaml.YAMLError) as error:
        raise InvalidConfiguration(
            f"{root}: git and dvc.lock name files that stay, and must be read ({error})"
        ) from error
    entries = (entry for stage in stages.values() for key in ("deps", "outs") for entry in stage.get(key, ()))
    return [root / name for name in (*(listed or "").split("\0"), *(entry["path"] for entry in entries)) if name]


def _digest(file: Path) -> str:
    """SHA-256 of the file; empty for a file that is gone."""
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except FileNotFoundError:
        return ""


def _print_row(count: int, what: str, meaning: str) -> None:
    if count:
        print(f"{count / 1e6:>12,.1f} MB  {what:<18}  {meaning}")
