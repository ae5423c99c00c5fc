"""From the journal to the store: in order, in few requests, each step once."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from cardlab.tracking.journal import Entry, Journal, JournalInUse

if TYPE_CHECKING:
    from mlflow import MlflowClient

_LARGEST_BATCH = 1000  # metrics in one request; MLflow's limit


def take_over(client: "MlflowClient", run_id: str, journal: Journal) -> dict[str, int]:
    """Metric → the last step that the store or the journal holds.

    Takes out of the journal what a killed process had sent without living to confirm it. Raises what MLflow raises.
    """
    names = client.get_run(run_id).data.metrics
    last = {name: max(metric.step for metric in client.get_metric_history(run_id, name)) for name in names}
    journal.entries[:] = [_unless_stored(entry, last) for entry in journal.entries]
    for entry in journal.entries:
        last |= dict.fromkeys(entry.get("metrics", {}), entry.get("step", 0))
    return last


def send(client: "MlflowClient", run_id: str, journal: Journal) -> None:
    """Send the entries of `journal`, which forgets each as soon as it is confirmed. Raises what MLflow raises.

    Every metric keeps the time at which it was logged, so a batch that arrived although its answer was lost is
    recognised by the store when it comes again.
    """
    while journal.entries:
        entry = journal.entries[0]
        count = 1
        if "metrics" in entry:
            count = _send_metrics(client, run_id, journal.entries)
        elif "tags" in entry:
            for key, value in entry["tags"].items():
                client.set_tag(run_id, key, value)
        elif "artifacts" in entry and journal.artifacts.is_dir():
            client.log_artifacts(run_id, str(journal.artifacts))
            shutil.rmtree(journal.artifacts)
        elif "finish" in entry:
            client.set_terminated(run_id, entry["finish"], entry["time"])
        journal.confirm(count)


def send_leftovers(client: "MlflowClient", spool: Path) -> int:
    """Send what runs whose process is gone have left in `spool`; the number of runs. Raises what MLflow raises.

    Runs that are still going, and those that were deleted from the store, are left alone.
    """
    from mlflow.exceptions import MlflowException  # noqa: PLC0415  with the client it is imported already

    served = 0
    for path in sorted(spool.glob("*.jsonl")):
        try:
            journal = Journal(spool, path.stem, wait=0)
        except JournalInUse:
            continue
        try:
            take_over(client, path.stem, journal)
            send(client, path.stem, journal)
            served += 1
        except MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
        finally:
            journal.close()
    return served


def _send_metrics(client: "MlflowClient", run_id: str, entries: list[Entry]) -> int:
    """Send the metrics of as many of the first entries as fit one request; how many entries that were."""
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


def _unless_stored(entry: Entry, stored: dict[str, int]) -> Entry:
    if "metrics" not in entry:
        return entry
    fresh = {key: value for key, value in entry["metrics"].items() if key not in stored or entry["step"] > stored[key]}
    return {**entry, "metrics": fresh}
