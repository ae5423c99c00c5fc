"""What a run has to tell and the store has not yet confirmed: JSON lines in a file that outlives the process."""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

Entry = Mapping[str, Any]
"""{"step": int, "time": ms, "metrics": {…}}, {"tags": {…}}, {"artifacts": true} or {"finish": status, "time": ms}."""


class JournalInUse(RuntimeError):
    """Another process holds the journal: it is the same run, still going."""


@dataclass(frozen=True, slots=True)
class _Places:
    entries: Path
    artifacts: Path
    lock: Path


class Journal:
    """Entries in order, each on disk before it is sent, so that neither kill -9 nor a lost server loses one.

    Without a folder that can be written, entries live in memory only, and `complain` is told so.
    """

    def __init__(
        self, folder: Path, run_id: str, *, wait: float, complain: Callable[[str], None] = lambda _: None
    ) -> None:
        """Take the journal of `run_id` over from a process that is gone; JournalInUse when it is not, in `wait` s."""
        self._places = _Places(folder / f"{run_id}.jsonl", folder / f"{run_id}.artifacts", folder / f"{run_id}.lock")
        self._complain = complain
        self._file: FileIO | None = None
        self._lock = FileLock(self._places.lock, timeout=wait)
        self.entries: list[Entry] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
            self.entries = _read(self._places.entries)
            self._file = self._places.entries.open("ab", buffering=0)
        except Timeout as error:
            raise JournalInUse(f"run {run_id} is in use by another process") from error
        except OSError as error:
            complain(f"cannot be kept on disk ({error})")

    @property
    def path(self) -> Path:
        """The file of entries."""
        return self._places.entries

    @property
    def artifacts(self) -> Path:
        """Folder of artifacts that are still to be sent, laid out as in the store."""
        return self._places.artifacts

    def append(self, entry: Entry) -> None:
        """Add one entry."""
        self.entries.append(entry)
        if self._file is None:
            return
        line = json.dumps(entry).encode() + b"\n"
        try:
            if self._file.write(line) < len(line):
                raise OSError("disk full")
        except OSError as error:
            self._file.close()
            self._file = None
            self._complain(f"cannot be kept on disk ({error})")

    def keep_artifact(self, source: Path, name: str) -> None:
        """Copy a file, to be sent later as the artifact `name`."""
        target = self.artifacts / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)

    def confirm(self, count: int) -> None:
        """Forget the first `count` entries; the file is emptied with the last of them."""
        del self.entries[:count]
        if not self.entries and self._file is not None:
            self._file.truncate(0)

    def take_out(self, stored: Mapping[str, int]) -> None:
        """Forget metrics up to their last step in the store: a killed process had sent them unconfirmed."""
        self.entries[:] = [_unless_stored(entry, stored) for entry in self.entries]

    def drop_finish(self) -> None:
        """Forget that the run was finished: it goes on."""
        self.entries[:] = [entry for entry in self.entries if "finish" not in entry]

    def close(self) -> None:
        """Let go; files stay only while they hold something."""
        if self._file is not None:
            self._file.close()
            self._file = None
            if not self.entries:
                self.path.unlink(missing_ok=True)
        if self._lock.is_locked:
            self._places.lock.unlink(missing_ok=True)  # while held: a waiting process then takes a fresh one
            self._lock.release()


def _read(path: Path) -> list[Entry]:
    """The entries of a file; a line that was cut short by a kill is dropped from the file as well."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    return [entry for line in whole.splitlines() if (entry := _parse(line))]


def _parse(line: bytes) -> Entry | None:
    """One entry; None for a line that a full disk or a foreign hand has spoilt."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None


def _unless_stored(entry: Entry, stored: Mapping[str, int]) -> Entry:
    if "metrics" not in entry:
        return entry
    fresh = {key: value for key, value in entry["metrics"].items() if key not in stored or entry["step"] > stored[key]}
    return {**entry, "metrics": fresh}
