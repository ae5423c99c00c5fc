"""The desk: all that a run asks of MLflow, in plain values, so that another process may sit at it (`apart.py`)."""

import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from cardlab.tracking.address import artifact_folder
from cardlab.tracking.client import first_line
from cardlab.tracking.journal import Entry, Journal, JournalInUse

if TYPE_CHECKING:
    from mlflow import MlflowClient

_LARGEST_BATCH = 1000  # metrics in one request; MLflow's limit
_LARGEST_TABLE = 100  # parameters in one request; likewise
_ATTEMPTS = 3
_UNKNOWN = ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")


@dataclass(frozen=True)
class Delivered:
    """How many of the first entries the store has confirmed, and why no more."""

    count: int
    error: str | None = None


class Desk(Protocol):
    """Every method raises TrackingUnavailable when the store cannot be opened, and what MLflow raises."""

    def check(self) -> None:
        """Ask the store for something."""
        ...

    def begin(self, experiment: str, name: str, tags: Mapping[str, str]) -> str:
        """A new run; its id."""
        ...

    def reopen(self, run_id: str) -> bool:
        """Set a run going again; False when the store has no such run."""
        ...

    def find(self, experiment: str, tag: str, value: str) -> str | None:
        """The id of the run that has this tag."""
        ...

    def stored_steps(self, run_id: str) -> dict[str, int]:
        """Metric → the last step that the store has of it."""
        ...

    def stored_params(self, run_id: str) -> list[str]:
        """The names of the parameters that the run has."""
        ...

    def log_params(self, run_id: str, params: Mapping[str, str]) -> None:
        """Give the run these parameters."""
        ...

    def log_artifact(self, run_id: str, file: str, folder: str | None) -> None:
        """Keep a file in `folder` of the run."""
        ...

    def deliver(self, run_id: str, entries: Sequence[Entry], artifacts: Path) -> Delivered:
        """Send entries of a journal, in order; never raises. `artifacts` is the folder of the files kept with them."""
        ...

    def send_leftovers(self, spool: Path) -> int:
        """Send what runs whose process is gone have left in `spool`; the number of runs."""
        ...


class OwnDesk:
    """The desk in this process; `connect` gives MLflow's client, or raises TrackingUnavailable."""

    def __init__(self, connect: "Callable[[], MlflowClient]", address: str, root: Path) -> None:
        self._connect = connect
        self._address = address
        self._root = root

    @property
    def client(self) -> "MlflowClient":
        """MLflow's own client."""
        return self._connect()

    def check(self) -> None:
        """See Desk."""
        self.client.search_experiments(max_results=1)

    def experiment_id(self, name: str) -> str:
        """The id of the experiment with this name, made or brought back from deletion when needed."""
        client = self.client
        from mlflow.exceptions import MlflowException  # noqa: PLC0415  with the client it is imported already

        found = client.get_experiment_by_name(name)
        if found is None:
            try:
                return client.create_experiment(name, artifact_folder(self._address, self._root, name))
            except MlflowException:  # another process was quicker
                found = client.get_experiment_by_name(name)
                if found is None:
                    raise
        if found.lifecycle_stage == "deleted":
            client.restore_experiment(found.experiment_id)
        return found.experiment_id

    def begin(self, experiment: str, name: str, tags: Mapping[str, str]) -> str:
        """See Desk."""
        client = self.client
        for attempt in range(_ATTEMPTS):
            try:
                return client.create_run(self.experiment_id(experiment), tags=dict(tags), run_name=name).info.run_id
            except Exception:
                if attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(0.2 * 2**attempt)
        raise AssertionError("unreachable")

    def reopen(self, run_id: str) -> bool:
        """See Desk."""
        client = self.client
        from mlflow.exceptions import MlflowException  # noqa: PLC0415  as above

        try:
            if client.get_run(run_id).info.lifecycle_stage == "deleted":
                return False
            client.update_run(run_id, status="RUNNING")
        except MlflowException as error:
            if error.error_code in _UNKNOWN:
                return False
            raise
        return True

    def find(self, experiment: str, tag: str, value: str) -> str | None:
        """See Desk."""
        found = self.client.search_runs([self.experiment_id(experiment)], f"tags.{tag} = '{value}'", max_results=1)
        return found[0].info.run_id if found else None

    def stored_steps(self, run_id: str) -> dict[str, int]:
        """See Desk."""
        names = self.client.get_run(run_id).data.metrics
        return {name: max(metric.step for metric in self.client.get_metric_history(run_id, name)) for name in names}

    def stored_params(self, run_id: str) -> list[str]:
        """See Desk."""
        return list(self.client.get_run(run_id).data.params)

    def log_params(self, run_id: str, params: Mapping[str, str]) -> None:
        """See Desk."""
        client = self.client
        from mlflow.entities import Param  # noqa: PLC0415  as above

        table = [Param(key, value) for key, value in params.items()]
        for start in range(0, len(table), _LARGEST_TABLE):
            client.log_batch(run_id, params=table[start : start + _LARGEST_TABLE])

    def log_artifact(self, run_id: str, file: str, folder: str | None) -> None:
        """See Desk."""
        self.client.log_artifact(run_id, file, folder)

    def deliver(self, run_id: str, entries: Sequence[Entry], artifacts: Path) -> Delivered:
        """See Desk. Metrics keep their times: a batch that comes once more, its answer lost, is recognised."""
        count = 0
        try:
            while count < len(entries):
                count += self._deliver_first(run_id, entries[count:], artifacts)
        except Exception as error:
            return Delivered(count, first_line(error))
        return Delivered(count)

    def send_leftovers(self, spool: Path) -> int:
        """See Desk. Runs that are still going, and those that were deleted from the store, are left alone."""
        client = self.client
        from mlflow.exceptions import MlflowException  # noqa: PLC0415  as above

        served = 0
        for path in sorted(spool.glob("*.jsonl")):
            try:
                journal = Journal(spool, path.stem, wait=0)
            except JournalInUse:
                continue
            try:
                client.get_run(path.stem)
                journal.take_out(self.stored_steps(path.stem))
                done = self.deliver(path.stem, journal.entries, journal.artifacts)
                journal.confirm(done.count)
                served += done.error is None
            except MlflowException as error:
                if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                    raise
            finally:
                journal.close()
        return served

    def _deliver_first(self, run_id: str, entries: Sequence[Entry], artifacts: Path) -> int:
        """Send the first of `entries`, metrics in few requests; how many that were."""
        entry, client = entries[0], self.client
        if "metrics" in entry:
            return self._deliver_metrics(run_id, entries)
        if "tags" in entry:
            for key, value in entry["tags"].items():
                client.set_tag(run_id, key, value)
        elif "artifacts" in entry and artifacts.is_dir():
            client.log_artifacts(run_id, str(artifacts))
            shutil.rmtree(artifacts)
        elif "finish" in entry:
            client.set_terminated(run_id, entry["finish"], entry["time"])
        return 1

    def _deliver_metrics(self, run_id: str, entries: Sequence[Entry]) -> int:
        """Send the metrics of as many of the first entries as fit one request; how many entries that were."""
        client = self.client
        from mlflow.entities import Metric  # noqa: PLC0415  as above

        batch: list[Metric] = []
        count = 0
        for entry in entries:
            metrics = entry.get("metrics")
            if metrics is None or len(batch) + len(metrics) > _LARGEST_BATCH:
                break
            batch += [Metric(key, value, entry["time"], entry["step"]) for key, value in metrics.items()]
            count += 1
        if batch:
            client.log_batch(run_id, metrics=batch)
        return count
