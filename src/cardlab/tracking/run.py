"""One run of the store: what it is told goes to a journal on disk first and from there to MLflow, in batches."""

import logging
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from cardlab.tracking.client import first_line
from cardlab.tracking.desk import Desk
from cardlab.tracking.journal import Journal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Status = Literal["FINISHED", "KILLED", "FAILED"]

_logger = logging.getLogger(__name__)
_SECONDS_BETWEEN_BATCHES = 5.0
_PATIENCE = 20.0  # after a failure wait this many times as long as it took: a lost server costs a twentieth at most
_METRIC_NAME = re.compile(r"[\w\-. /]{1,250}")
_MOST_METRICS = 500  # in one entry of the journal


class Run:
    """A run that takes metrics, tags and files until it is finished. No failure of the store ever raises here.

    As a context manager it finishes itself: FINISHED at the end, KILLED when it was stopped on purpose (Ctrl-C, exit,
    or an exception of `stopped_by`, such as a pruned trial), FAILED otherwise. Not safe for several threads.
    """

    def __init__(
        self,
        desk: Desk,
        run_id: str,
        spool: Path,
        *,
        stopped_by: tuple[type[BaseException], ...] = (),
        wait: float = 30.0,
    ) -> None:
        self.id = run_id
        self.resumed = False  # whether it goes on with what an earlier process began
        self.when_finished: Callable[[], None] | None = None  # told when, and only when, all went well
        self._desk = desk
        self._began = int(time.time() * 1000)  # a clock that is set back ends no run before it began
        self._stopped_by = stopped_by
        self._complained: set[str] = set()
        self._finished = False
        self._next_batch = time.monotonic() + _SECONDS_BETWEEN_BATCHES
        self._journal = Journal(spool, run_id, wait=wait, complain=self._complain)
        try:
            self._journal.drop_finish()
            self._last_steps = self._take_over()
        except BaseException:
            self._journal.close()
            raise

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """Keep the metrics of one step; a step that a metric has had already, as after a resume, is not kept twice.

        Raises ValueError for a name that MLflow does not take.
        """
        last = self._last_steps
        for key in metrics:
            if key not in last and not _METRIC_NAME.fullmatch(key):
                raise ValueError(f"metric {key!r}: a name has letters, digits, spaces and _ - . / only")
        fresh = {key: float(value) for key, value in metrics.items() if key not in last or step > last[key]}
        last.update(dict.fromkeys(fresh, step))
        items = list(fresh.items())
        now = int(time.time() * 1000)
        for start in range(0, len(items), _MOST_METRICS):
            part = dict(items[start : start + _MOST_METRICS])
            self._journal.append({"step": int(step), "time": now, "metrics": part})
        if time.monotonic() >= self._next_batch:
            self.flush()

    def set_tags(self, tags: Mapping[str, object]) -> None:
        """Set tags; values are written as text."""
        self._journal.append({"tags": {key: str(value) for key, value in tags.items()}})
        if time.monotonic() >= self._next_batch:
            self.flush()

    def log_artifact(self, path: Path, folder: str = "") -> None:
        """Keep a file as an artifact in `folder`, or all that is in a directory, in `folder` or one of its own name."""
        if path.is_file():
            self._send_artifact(path, (Path(folder) / path.name).as_posix())
            return
        for file in sorted(file for file in path.rglob("*") if file.is_file()):
            self._send_artifact(file, (Path(folder or path.name) / file.relative_to(path)).as_posix())

    def log_text(self, text: str, name: str) -> None:
        """Keep `text` as the artifact `name`."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / Path(name).name
            file.write_text(text, encoding="utf-8")
            self._send_artifact(file, name)

    def log_figure(self, figure: "Figure", name: str) -> None:
        """Keep a matplotlib figure as the artifact `name`, whose suffix is the format."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / Path(name).name
            figure.savefig(file)
            self._send_artifact(file, name)

    def flush(self) -> None:
        """Send all that is kept; what cannot be sent stays for the next time."""
        began = time.monotonic()
        pause = _SECONDS_BETWEEN_BATCHES
        if self._journal.entries:
            done = self._desk.deliver(self.id, self._journal.entries, self._journal.artifacts)
            self._journal.confirm(done.count)
            if done.error is not None:
                pause = max(pause, _PATIENCE * (time.monotonic() - began))
                self._complain(f"cannot be sent ({done.error}); what it logs is kept and sent later")
        self._next_batch = time.monotonic() + pause

    def finish(self, status: Status = "FINISHED") -> None:
        """Send what is left and close the run; a second call does nothing."""
        if self._finished:
            return
        self._finished = True
        self._journal.append({"finish": status, "time": max(int(time.time() * 1000), self._began)})
        self.flush()
        if self._journal.entries:
            _logger.warning("run %s: what could not be sent is kept in %s", self.id, self._journal.path)
        self._journal.close()
        if status == "FINISHED" and self.when_finished is not None:
            self.when_finished()

    def __enter__(self) -> "Run":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.finish("FINISHED")
        elif isinstance(error, self._stopped_by) or not isinstance(error, Exception):
            self.finish("KILLED")
        else:
            self.finish("FAILED")

    def _take_over(self) -> dict[str, int]:
        """Metric → the last step that the store or the journal holds; what both hold is taken out of the journal."""
        last = self._desk.stored_steps(self.id)
        self._journal.take_out(last)
        for entry in self._journal.entries:
            last |= dict.fromkeys(entry.get("metrics", {}), entry.get("step", 0))
        return last

    def _send_artifact(self, file: Path, name: str) -> None:
        folder = Path(name).parent.as_posix()
        try:
            self._desk.log_artifact(self.id, str(file.absolute()), None if folder == "." else folder)
        except Exception as error:
            self._keep_artifact(file, name, error)

    def _keep_artifact(self, file: Path, name: str, error: Exception) -> None:
        try:
            self._journal.keep_artifact(file, name)
            self._journal.append({"artifacts": True})
            self._complain(f"cannot be sent ({first_line(error)}); what it logs is kept and sent later")
        except (OSError, shutil.Error) as second:
            self._complain(f"artifact {name} is lost ({second})")

    def _complain(self, what: str) -> None:
        """Warn once for each kind of trouble, whatever the details."""
        kind = what.split("(", maxsplit=1)[0]
        if kind not in self._complained:
            self._complained.add(kind)
            _logger.warning("run %s: %s", self.id, what)
