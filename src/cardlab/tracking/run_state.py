"""The file `run.json` in a training's folder names its MLflow run until that is finished."""

import json
import os
import secrets
from collections.abc import Generator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from cardlab.core.files import write_atomically
from cardlab.core.options import InvalidOption

_FILE = "run.json"
_LOCK = "lock"  # held by the process that trains in the folder
_SHORTEST_ID = 4  # characters


@dataclass(frozen=True)
class RunState:
    """One unfinished run."""

    launch: str  # a tag of the run: it finds the run of a process that was killed before the id was written
    run_id: str | None
    stage: str | None  # of the pipeline that began it
    config: Mapping[str, Any]

    @staticmethod
    def begin(config: Mapping[str, Any]) -> "RunState":
        """The state of a run that is about to begin."""
        return RunState(secrets.token_hex(8), None, os.environ.get("DVC_STAGE"), config)

    def save(self, folder: Path, run_id: str | None = None) -> None:
        """Write it, whole or not at all, with the id where the store has given one."""
        state = replace(self, run_id=run_id or self.run_id)
        write_atomically(folder / _FILE, json.dumps(asdict(state), indent=1, default=str) + "\n")


def load_run_state(folder: Path) -> RunState | None:
    """The unfinished run of `folder`; None when there is none, or the file is damaged."""
    try:
        return RunState(**json.loads((folder / _FILE).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def delete_run_state(folder: Path) -> None:
    """The run of `folder` is finished."""
    (folder / _FILE).unlink(missing_ok=True)


def find_unfinished(runs: Path, text: str) -> tuple[Path, RunState]:
    """Folder and state of the unfinished run below `runs` whose id begins with `text`; InvalidOption for none."""
    found = {state.run_id: (folder, state) for folder, state in _unfinished(runs) if state.run_id}
    matching = [run_id for run_id in found if run_id.startswith(text) and len(text) >= _SHORTEST_ID]
    if len(matching) != 1:
        allowed = f"the id of a run that was interrupted here, or at least its first {_SHORTEST_ID} characters; "
        raise InvalidOption("resume", text, allowed + (f"there are {', '.join(found)}" if found else "there is none"))
    return found[matching[0]]


def killed_runs(runs: Path) -> Generator[tuple[str, float]]:
    """Id and last sign of life (seconds since 1970) of the unfinished runs below `runs` that no process works on.

    Each folder's lock is held while the caller has it.
    """
    for folder, state in _unfinished(runs):
        with suppress(Timeout, OSError), FileLock(folder / _LOCK, timeout=0):
            if state.run_id and load_run_state(folder) == state:
                yield state.run_id, max(path.stat().st_mtime for path in folder.iterdir() if path.name != _LOCK)


def _unfinished(runs: Path) -> Generator[tuple[Path, RunState]]:
    for path in sorted(runs.glob(f"*/*/{_FILE}")):
        state = None if path.parent.is_symlink() else load_run_state(path.parent)
        if state is not None:
            yield path.parent, state
