"""The last two checkpoints of a training on disk, each checked before it is used."""

import os
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from zipfile import BadZipFile, ZipFile

import torch

from cardlab.core.code_digest import COMPUTING
from cardlab.core.files import LARGEST_DATA, check_regular

PREVIOUS = "previous.ckpt"
OTHER_VERSIONS = "CARDLAB_OTHER_VERSIONS"
"""Variable of the environment: with 1, trainings resume under other versions of the packages that compute."""


class CheckpointError(RuntimeError):
    """A checkpoint cannot be read or written; the message is one line that names the file."""


def replace_checkpoint(path: Path, part: Path) -> None:
    """Make the complete file `part` the checkpoint `path`, and keep the former one as PREVIOUS. Raises OSError."""
    with part.open("rb") as file:
        os.fsync(file.fileno())
    if path.exists():
        path.replace(path.with_name(PREVIOUS))
    part.replace(path)


def read_checkpoint(path: Path) -> Mapping[str, Any]:
    """The content of a file that torch wrote. Raises an exception of torch or zipfile for any damage.

    Each record in it has a CRC-32, which torch writes and does not check. It compresses none.
    """
    check_regular(path, LARGEST_DATA)
    with ZipFile(path) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > path.stat().st_size:
            raise ValueError("it expands to more than its size")
        if (damaged := archive.testzip()) is not None:
            raise ValueError(f"the checksum of {damaged} does not match")
    return torch.load(path, map_location="cpu", weights_only=True)


def computing_versions() -> dict[str, str]:
    """The versions that a checkpoint holds; torch's without its local part, such as +cpu."""
    return {name: version(name).partition("+")[0] for name in COMPUTING}


def find_checkpoint(path: Path, processes: int, report: Callable[[str], None]) -> Path | None:
    """The checkpoint to resume from, `path` or the one before it; None if there is none.

    A damaged one is reported and replaced by the one before it. Raises CheckpointError if none can be used, and for one
    of other versions of torch, numpy or numba unless OTHER_VERSIONS is set.
    """
    previous = path.with_name(PREVIOUS)
    for file in filter(Path.exists, (path, previous)):
        try:
            content = read_checkpoint(file)
            learner, versions = content["learner"], dict(content["callbacks"]["Checkpoints"]["versions"])
            done, written_by = int(learner["iterations_done"]), 1 + len(learner.get("others", ()))
        except Exception as error:
            damage = f"{file}: is not a checkpoint of this run ({_reason(error)})"
            if file == previous or not previous.exists():
                raise CheckpointError(f"{damage}; delete it") from error
            report(f"{damage}; the checkpoint before it is used")
            continue
        if written_by != processes:
            hint = f"resume with trainer.processes={written_by} instead of {processes}, or delete it"
            raise CheckpointError(f"{file}: was written by {written_by} processes; {hint}")
        _check_versions(file, versions)
        file.replace(path)
        report(f"resuming after iteration {done} ({path})")
        return path
    return None


def _check_versions(file: Path, versions: Mapping[str, str]) -> None:
    """Raise CheckpointError for a checkpoint of other versions, unless OTHER_VERSIONS allows it."""
    here = computing_versions()
    if versions != here and os.environ.get(OTHER_VERSIONS) != "1":
        before, now = (
            ", ".join(f"{name} {each.get(name)}" for name in here if versions.get(name) != here[name])
            for each in (versions, here)
        )
        hint = f"set {OTHER_VERSIONS}=1 to resume with other results, or delete {file.parent}"
        raise CheckpointError(f"{file}: was written with {before}, here is {now}; {hint}")


def _reason(error: Exception) -> str:
    """Why a checkpoint cannot be used, instead of the message of torch or zipfile."""
    if isinstance(error, BadZipFile | EOFError):
        return "it is incomplete or damaged"
    if isinstance(error, UnpicklingError):
        return "it contains objects that checkpoints do not have, perhaps code; nothing was run"
    return f"it lacks {error}" if isinstance(error, KeyError) else str(error).partition("\n")[0][:120] or repr(error)
