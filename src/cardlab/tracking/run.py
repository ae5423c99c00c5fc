"""One MLflow run: its metrics are buffered until a checkpoint holds them, and are then sent in batches."""

import logging
import shutil
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from cardlab.core.messages import without_password
from cardlab.tracking.connection import StoreDamaged, first_line
from cardlab.tracking.parameters import legal_name
from cardlab.tracking.policy_models import PolicyToLog, log_policies

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from mlflow import MlflowClient

Status = Literal["FINISHED", "KILLED", "FAILED"]
Row = tuple[int, int, dict[str, float]]
"""A step, the time of its measurement (milliseconds since 1970), and its metrics."""

_logger = logging.getLogger(__name__)
_SECONDS_AT_CHECKPOINT = 5.0  # longest wait for the store
_SECONDS_AT_END = 30.0
_SECONDS_BETWEEN = 5.0  # between two batches of a run without checkpoints
_SECONDS_AFTER_FAILURE = 60.0

LEARNING = ("return", "policy_loss", "value_loss", "entropy", "approx_kl")
"""Metrics below `train/` that MLflow shows first."""


def metric_rank(name: str) -> int:
    """Place of a metric on MLflow's page of a run, which lists metrics as they were first logged: the score first."""
    groups = (f"train/{learning}" for learning in LEARNING)
    first = (name.startswith(("score/", "sweep/")), name in groups, name.startswith("usage/"), True)
    return first.index(True)


class RecordIncomplete(RuntimeError):
    """The store has not received all of a run; the message is one line that says what to do."""


class Run:
    """A run that accepts metrics, tags and artifacts until it is finished. Failures of the store raise nothing here.

    Each metric is stored once: it keeps the time of its measurement, and MLflow stores equal rows once. A training
    saves `state_dict` in its checkpoints (`in_checkpoints`) and calls `flush` after each one; after kill -9 it sends
    equal rows again. Steps that the store had when the run was resumed are skipped. A run without checkpoints sends
    every few seconds.

    As a context manager it calls `finish`: FINISHED at the end; KILLED for Ctrl-C, exit and the exceptions of
    `stopped_by`, such as a pruned trial; FAILED for other exceptions. Not thread-safe.
    """

    def __init__(
        self,
        connected: "Callable[[], MlflowClient]",
        run_id: str,
        *,
        last_steps: Mapping[str, int] | None = None,
        stopped_by: tuple[type[BaseException], ...] = (),
    ) -> None:
        """`connected` returns the client or raises. `last_steps`: metric → last stored step, of a resumed run."""
        self.id = run_id
        self.resumed = last_steps is not None
        self.in_checkpoints = False  # whether the caller saves `state_dict` and calls `flush`
        self.complete = True  # whether the store has received everything; valid after `finish`
        self.when_finished: Callable[[], None] | None = None  # called after a FINISHED run was sent completely
        self._connected = connected
        self._stopped_by = stopped_by
        self._started = _now()
        self._last_steps = dict(last_steps or {})
        self._new: list[Row] = []
        self._ready: list[Row] = []  # to be sent; the sender thread removes rows from the front
        self._tags: dict[str, str] = {}
        self._artifacts: list[TemporaryDirectory[str]] = []
        self._policies: list[PolicyToLog] = []
        self._end: tuple[Status, int] | None = None
        self._monitor: Any = None  # MLflow's of the machine
        self._finished = False
        self._sender: threading.Thread | None = None
        self._error: str | None = None
        self._damaged = False  # the store can receive nothing any more
        self._next_batch = time.monotonic() + _SECONDS_BETWEEN
        self._warned = False

    def monitor_system(self, address: str) -> None:
        """Log the use of the machine as MLflow does, if MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING asks for it."""
        from mlflow.environment_variables import MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING  # noqa: PLC0415

        if MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING.get():
            from mlflow.system_metrics.system_metrics_monitor import SystemMetricsMonitor  # noqa: PLC0415

            self._monitor = SystemMetricsMonitor(self.id, resume_logging=self.resumed, tracking_uri=address)
            self._monitor.start()

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """Log the metrics of one step; steps that a metric already has, e.g. after a resume, are skipped."""
        self._add(step, _now(), metrics)
        self._flush_if_due()

    def replace_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """Log metrics at a step that may have other values: MLflow shows those that were measured last."""
        self._new.append((step, _now(), {legal_name(key): float(value) for key, value in metrics.items()}))
        self._flush_if_due()

    def set_tags(self, tags: Mapping[str, object]) -> None:
        """Set tags; values are converted to text."""
        self._tags |= {legal_name(key): without_password(str(value)) for key, value in tags.items()}
        self._flush_if_due()

    def log_artifact(self, path: Path, folder: str = "") -> None:
        """Log a file as an artifact in `folder`, or a directory as `folder` (default: its own name)."""
        if path.is_dir():
            self._keep(folder or path.name, lambda target: shutil.copytree(path, target))
        elif path.exists():
            self._keep((Path(folder) / path.name).as_posix(), lambda target: shutil.copyfile(path, target))

    def log_text(self, text: str, name: str) -> None:
        """Log `text` as the artifact `name`."""
        self._keep(name, lambda target: target.write_text(text, encoding="utf-8"))

    def log_figure(self, figure: "Figure", name: str) -> None:
        """Log a matplotlib figure as the artifact `name`; its suffix is the format."""
        self._keep(name, figure.savefig)

    def log_policy(self, policy: PolicyToLog) -> None:
        """Log a policy as a model of the run; its folder is read when it is sent."""
        self._policies.append(policy)

    def state_dict(self) -> dict[str, Any]:
        """The unsent rows, for a checkpoint."""
        return {"run": self.id, "rows": [*self._ready, *self._new]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the unsent rows; if another run started the training, copy its history from the store."""
        if state["run"] != self.id:
            self._copy_history(state["run"])
        for step, measured, metrics in state["rows"]:
            self._add(step, measured, metrics)

    def flush(self, seconds: float = _SECONDS_AT_CHECKPOINT) -> bool:
        """Send everything and wait at most `seconds`; returns whether all of it has arrived.

        A thread sends, since a request may hang for longer than a training may wait. While an earlier request hangs,
        only the end of the run waits for it.
        """
        self._ready += self._new
        self._new.clear()
        if self._sender is None or not self._sender.is_alive():
            self._sender = threading.Thread(target=self._send, daemon=True)
            self._sender.start()
            self._sender.join(seconds)
        elif self._finished:
            self._sender.join(seconds)
        error = f"no answer in {seconds:.0f} s" if self._sender.is_alive() else self._error
        self._next_batch = time.monotonic() + (_SECONDS_AFTER_FAILURE if error else _SECONDS_BETWEEN)
        if error and not (self._finished or self._warned):
            self._warned = True
            _logger.warning("run %s: cannot be sent (%s); it is kept and sent later", self.id, error)
        self._error = error
        return not (error or self._ready or self._tags or self._artifacts or self._policies or self._end)

    def finish(self, status: Status = "FINISHED") -> None:
        """Send the rest and close the run; no-op for a finished run."""
        if self._finished:
            return
        self._finished = True
        if self._monitor is not None:
            self._monitor.finish()
        self._end = status, max(_now(), self._started)  # the clock may have been set back
        deadline, pause = time.monotonic() + _SECONDS_AT_END, 0.5
        while not (complete := self.flush(max(0.0, deadline - time.monotonic()))):
            if self._damaged or time.monotonic() + pause > deadline:
                break
            time.sleep(pause)
            pause *= 2
        self.complete = complete
        if not complete:
            _logger.warning("run %s: its record in the store is incomplete (%s)", self.id, self._error)
        elif status == "FINISHED" and self.when_finished is not None:
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

    def _add(self, step: int, measured: int, metrics: Mapping[str, float]) -> None:
        named = {legal_name(key): float(value) for key, value in metrics.items()}
        fresh = {key: value for key, value in named.items() if step > self._last_steps.get(key, step - 1)}
        if fresh:
            self._new.append((int(step), measured, fresh))
            self._last_steps |= dict.fromkeys(fresh, int(step))

    def _flush_if_due(self) -> None:
        if not self.in_checkpoints and time.monotonic() >= self._next_batch:
            self.flush()

    def _keep(self, name: str, write: Callable[[Path], object]) -> None:
        """Call `write` with a path for the artifact `name`, in a folder that is kept until the store has it."""
        scratch = TemporaryDirectory(prefix="cardlab-artifact-")
        target = Path(scratch.name, name)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write(target)
            self._artifacts.append(scratch)
        except (OSError, shutil.Error) as error:
            _logger.warning("run %s: artifact %s is lost (%s)", self.id, name, error)

    def _copy_history(self, run_id: str) -> None:
        try:
            client = self._connected()
            for key in client.get_run(run_id).data.metrics:
                for metric in sorted(client.get_metric_history(run_id, key), key=lambda metric: metric.step):
                    self._add(metric.step, metric.timestamp, {key: metric.value})
        except Exception as error:
            self._tags["record"] = f"incomplete: earlier metrics are in run {run_id}, which cannot be read"
            _logger.warning("run %s: %s (%s)", self.id, self._tags["record"], first_line(error))

    def _send(self) -> None:
        """Send rows, tags and artifacts, then the status; FAILED if something did not arrive."""
        end = self._end  # one that is set later waits for the next thread, since metrics may be logged before it
        try:
            client = self._connected()
            self._send_batch(client)
            while self._artifacts:
                client.log_artifacts(self.id, self._artifacts[0].name)
                self._artifacts.pop(0).cleanup()
            if self._policies:
                log_policies(client, self.id, self._policies)
                self._policies.clear()
            if end is not None:
                client.set_terminated(self.id, *end)
                self._end = None
            self._error = None
        except Exception as error:
            self._error, self._damaged = first_line(error), isinstance(error, StoreDamaged)
            if end is not None:
                status, ended = end
                with suppress(Exception):
                    self._connected().set_terminated(self.id, "KILLED" if status == "KILLED" else "FAILED", ended)

    def _send_batch(self, client: "MlflowClient") -> None:
        """Send rows and tags; MLflow's client divides them into requests of the size that a server accepts."""
        from mlflow.entities import Metric, RunTag  # noqa: PLC0415  imported with the client

        rows, tags = [*self._ready], [*self._tags.items()]
        metrics = [Metric(key, value, measured, step) for step, measured, row in rows for key, value in row.items()]
        metrics.sort(key=lambda metric: metric_rank(metric.key))
        client.log_batch(self.id, metrics, tags=[RunTag(key, value) for key, value in tags])
        del self._ready[: len(rows)]
        for key, value in tags:
            if self._tags[key] == value:  # not changed while it was sent
                del self._tags[key]


def _now() -> int:
    """Milliseconds since 1970."""
    return int(time.time() * 1000)
