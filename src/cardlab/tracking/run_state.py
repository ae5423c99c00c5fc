"""The file `run.json` in the folder of a training: it names the MLflow run until the run is finished."""

import json
import os
import secrets
from collections.abc import Generator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from cardlab.core.files import load_json, write_atomically
from cardlab.core.messages import InvalidOption
from cardlab.core.parts import check_targets

STATE_FILE = "run.json"
SHORTEST_ID = 4  # characters


@dataclass(frozen=True)
class RunState:
    """An unfinished run."""

    launch: str  # a tag of the run: it identifies the run of a process that was killed before it saved the id
    run_id: str | None
    stage: str | None  # the DVC stage that started the run
    config: Mapping[str, Any]

    @staticmethod
    def begin(config: Mapping[str, Any]) -> "RunState":
        """The state of a run that is not yet in the store."""
        return RunState(secrets.token_hex(8), None, os.environ.get("DVC_STAGE"), config)

    def save(self, folder: Path, run_id: str | None = None) -> None:
        """Write the state atomically, with `run_id` if given."""
        state = replace(self, run_id=run_id or self.run_id)
        write_atomically(folder / STATE_FILE, json.dumps(asdict(state), indent=1, default=str) + "\n")


def load_run_state(folder: Path) -> RunState | None:
    """The unfinished run of `folder`; None if there is none or the file is damaged."""
    try:
        state = RunState(**load_json(folder / STATE_FILE))
    except (OSError, ValueError, TypeError):
        return None
    return state if isinstance(cast(object, state.config), Mapping) else None


def find_unfinished(runs: Path, text: str) -> tuple[Path, RunState]:
    """Folder and state of the unfinished run below `runs` whose id starts with `text`; InvalidOption if none does."""
    found = {state.run_id: (folder, state) for folder, state in unfinished_runs(runs) if state.run_id}
    matching = [run_id for run_id in found if run_id.startswith(text) and len(text) >= SHORTEST_ID]
    if len(matching) != 1:
        none = "this project has none; a finished run is not resumed"
        known = f"choose from {', '.join(found)}" if found else none
        allowed = f"the id of an interrupted run, or at least its first {SHORTEST_ID} characters; {known}"
        raise InvalidOption("resume", text, allowed)
    folder, state = found[matching[0]]
    check_targets(state.config, f"run {matching[0]}")
    return folder, state


def unfinished_runs(runs: Path) -> Generator[tuple[Path, RunState]]:
    """Folder and state of each training below `runs` that is running or interrupted."""
    for path in sorted(runs.glob(f"*/*/{STATE_FILE}")):
        state = None if path.parent.is_symlink() else load_run_state(path.parent)
        if state is not None:
            yield path.parent, state
