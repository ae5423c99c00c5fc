"""From a policy to the run that made it, by the digest of its files."""

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.tracking.store import Store

if TYPE_CHECKING:
    from mlflow.entities import Run

CONFIG = "config.json"  # the composed configuration, an artifact of every run
DIGEST = "policy.digest"  # the tag that leads from a policy to its runs and versions, and back
_JUDGES = ("evaluation", "promotion", "registration")  # kinds of runs that measure a policy and do not make it
_MOST = 50_000  # runs in one answer: MLflow's limit


@dataclass(frozen=True)
class Origin:
    """The run that made a policy."""

    run_id: str
    name: str
    tags: Mapping[str, str]  # its lineage, and what else was logged of it
    config: Mapping[str, Any]  # as it was composed; empty when the store has lost it


def newest_runs(
    store: Store, condition: str = "", game: str | None = None, most: int = _MOST
) -> "list[tuple[str, Run]]":
    """The newest runs of `game`, or of all, that meet MLflow's filter, with their games. Raises TrackingUnavailable."""
    with store.asked():
        entries = store.client.search_experiments()
        games = {entry.experiment_id: entry.name for entry in entries if game in (None, entry.name)}
        order = ["start_time DESC"]
        found = store.client.search_runs([*games], condition, max_results=most, order_by=order) if games else []
    return [(games[run.info.experiment_id], run) for run in found]


def concerning(digest: str) -> str:
    """MLflow's filter for the runs that made or measured the policy of this digest.

    The tag of a trial with several seeds has the digests of them all, in their order, with spaces between.
    """
    return f"tags.`{DIGEST}` LIKE '%{digest}%'"


def find_origin(store: Store, digest: str) -> Origin | None:
    """The run that made the policy of this digest, the first of several; None when this store has none."""
    for _, run in reversed(newest_runs(store, concerning(digest))):
        if run.data.tags.get("kind") not in _JUDGES:
            tags = {key: value for key, value in run.data.tags.items() if not key.startswith("mlflow.")}
            return Origin(run.info.run_id, run.info.run_name or "", tags, _read_config(store, run.info.run_id))
    return None


def _read_config(store: Store, run_id: str) -> dict[str, Any]:
    """The composed configuration of a run; empty when its file is gone, whatever the artifact store raises."""
    try:
        with tempfile.TemporaryDirectory() as scratch:
            return json.loads(Path(store.client.download_artifacts(run_id, CONFIG, scratch)).read_text())
    except Exception:
        return {}
