"""Finds the runs of a policy by the digest of its files."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from cardlab.core.files import load_json, short_path
from cardlab.tracking.store import Store

if TYPE_CHECKING:
    from mlflow.entities import Run as StoredRun

CONFIG = "config.json"  # artifact of a training: its composed configuration
DIGEST = "policy.digest"
"""Tag of runs and of registered versions: the digest of the policy's files."""

RUN_PATH = "/policy/"
"""Path at which `cardlab ui` redirects from a policy's digest to the run that made the policy."""

_MAKES_POLICIES = ("training", "trial")  # kinds of runs; others with a digest measured the policy


@dataclass(frozen=True)
class Origin:
    """The run that made a policy."""

    run_id: str
    name: str  # of the experiment
    tags: Mapping[str, str]  # without those of MLflow
    config: Mapping[str, Any]  # composed configuration; empty if the store has lost it


def policy_filter(digest: str) -> str:
    """MLflow's filter for the runs that made or measured the policy with this digest.

    A trial with several seeds has the digests of all its policies in one tag, separated by spaces.
    """
    return f"tags.`{DIGEST}` LIKE '%{digest}%'"


def run_link(digest: str, base: str = "http://127.0.0.1:5000") -> str:
    """Address of the run that made the policy with this digest, in any store that `cardlab ui` serves on `base`.

    Run ids differ between stores of equal trainings; digests do not.
    """
    return f"{base}{RUN_PATH}{digest}"


def find_origin(store: Store, digest: str) -> Origin | None:
    """The first run that made the policy with this digest; None without one. Raises TrackingUnavailable."""
    for _, run in reversed(store.search_runs(policy_filter(digest))):
        if run.data.tags.get("kind") in _MAKES_POLICIES:
            tags = {key: value for key, value in run.data.tags.items() if not key.startswith("mlflow.")}
            name = tags.get("experiment") or run.info.run_name or ""
            return Origin(run.info.run_id, name, tags, _read_config(store, run.info.run_id))
    return None


def policy_artifacts(stored: "StoredRun") -> Path | None:
    """The folder of a run's policy, or of its policies `seed_N`, in its artifacts; None if it is not on this disk."""
    address = urlsplit(stored.info.artifact_uri)
    folder = Path(unquote(address.path), "policy")
    if address.scheme not in ("", "file") or not folder.is_dir():
        return None
    return short_path(folder)


def _read_config(store: Store, run_id: str) -> dict[str, Any]:
    """The composed configuration of a run; empty if the artifact store raises any error."""
    try:
        with tempfile.TemporaryDirectory() as scratch:
            return load_json(Path(store.client.download_artifacts(run_id, CONFIG, scratch)))
    except Exception:
        return {}
