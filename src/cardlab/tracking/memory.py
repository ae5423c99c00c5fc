"""What a training's folder remembers of its run until that is finished: who was cut off goes on in the same run."""

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cardlab.core.files import write_whole
from cardlab.core.options import InvalidOption

_FILE = "run.json"
_FEWEST_SIGNS = 4  # of an id, to name a run


@dataclass(frozen=True)
class Memory:
    """One unfinished run."""

    launch: str  # a tag of the run: it finds the run of a process that was killed before it was told the id
    run_id: str | None
    stage: str | None  # of the pipeline that began it
    config: Mapping[str, Any]

    @staticmethod
    def begin(config: Mapping[str, Any]) -> "Memory":
        """That of a run which is about to begin."""
        return Memory(secrets.token_hex(8), None, os.environ.get("DVC_STAGE"), config)

    def known_as(self, run_id: str) -> "Memory":
        """The same, with the id that the store has given."""
        return replace(self, run_id=run_id)

    def keep(self, folder: Path) -> None:
        """Write it, whole or not at all."""
        write_whole(folder / _FILE, json.dumps(asdict(self), indent=1, default=str) + "\n")


def remembered(folder: Path) -> Memory | None:
    """The unfinished run of `folder`; None when there is none, or what is there is no memory of one."""
    try:
        return Memory(**json.loads((folder / _FILE).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def forget(folder: Path) -> None:
    """The run of `folder` is finished."""
    (folder / _FILE).unlink(missing_ok=True)


def find_unfinished(runs: Path, text: str) -> tuple[Path, Memory]:
    """Folder and memory of the unfinished run below `runs` whose id begins with `text`; InvalidOption for none."""
    found: dict[str, tuple[Path, Memory]] = {}
    for path in sorted(runs.glob(f"*/*/{_FILE}")):
        memory = None if path.parent.is_symlink() else remembered(path.parent)
        if memory is not None and memory.run_id is not None:
            found[memory.run_id] = path.parent, memory
    fitting = [run_id for run_id in found if run_id.startswith(text) and len(text) >= _FEWEST_SIGNS]
    if len(fitting) != 1:
        allowed = f"the id of a run that was cut off here, or {_FEWEST_SIGNS} or more of its first signs; "
        raise InvalidOption("resume", text, allowed + (f"there are {', '.join(found)}" if found else "there is none"))
    return found[fitting[0]]
