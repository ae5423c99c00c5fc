"""Finds the runs of a policy by the digest of its files."""

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from cardlab.core.code_digest import COMPUTING
from cardlab.core.files import short_path
from cardlab.tracking.connection import SERVERS, TrackingUnavailable
from cardlab.tracking.lineage import CODE, CONFIG, CURVE, DIGEST, UNCOMMITTED, VERSIONS
from cardlab.tracking.policy_models import DATA, POLICY
from cardlab.tracking.store import Store

if TYPE_CHECKING:
    from mlflow.entities import Run as StoredRun
    from mlflow.entities import RunInfo

KEPT = (CURVE, UNCOMMITTED)  # artifacts of a training that a champion's folder keeps
RUN_PATH = "/policy/"  # path at which `cardlab ui` redirects from a policy's digest to the run that made the policy

UI = "http://127.0.0.1:5000"  # address of `cardlab ui` by default

_MAKES_POLICIES = ("training", "trial")  # kinds of runs; others with a digest measured the policy


@dataclass(frozen=True)
class Origin:
    """The run that made a policy."""

    store: Store
    run_id: str
    name: str  # of the experiment
    tags: Mapping[str, str]  # without those of MLflow

    @cached_property
    def config(self) -> Mapping[str, Any]:
        """The composed configuration; empty if the store has lost it."""
        return json.loads(read_artifacts(self.store, self.run_id, (CONFIG,)).get(CONFIG, "{}"))

    @cached_property
    def files(self) -> Mapping[str, str]:
        """The learning curve and what was not committed, by name, where the store has them."""
        return read_artifacts(self.store, self.run_id, KEPT)


def policy_filter(digest: str) -> str:
    """MLflow's filter for the runs that made or measured the policy with this digest.

    A trial with several seeds has the digests of all its policies in one tag, separated by spaces.
    """
    return f"tags.`{DIGEST}` LIKE '%{digest}%'"


def run_link(digest: str) -> str:
    """Address of the run that made the policy with this digest, in any store that `cardlab ui` serves.

    Run ids differ between stores of equal trainings; digests do not.
    """
    return f"{UI}{RUN_PATH}{digest}"


def run_page(run: "RunInfo", base: str = "") -> str:
    """Address of the run's page in MLflow's UI on `base`."""
    return f"{base}/#/experiments/{run.experiment_id}/runs/{run.run_id}?workflowType=machine_learning"


def print_run(store: Store, condition: str, note: str = "", report: Callable[[str], None] = print) -> None:
    """Report the newest run that matches MLflow's filter `condition`: id, kind, and its page.

    The page is that of the tracking server, else that of `cardlab ui`. Reports nothing if the store cannot be used.
    """
    found: list[tuple[str, StoredRun]] = []
    with suppress(TrackingUnavailable):  # what was made or measured is there
        found = store.search_runs(condition, limit=1)
    for _, run in found:
        is_server = store.address.startswith(SERVERS)
        base = re.sub("//.*@", "//", store.address.rstrip("/")) if is_server else UI
        page = run_page(run.info, base) + ("" if is_server else " (by cardlab ui)")
        report(f"run:    {run.info.run_id} ({run.data.tags.get('kind', 'run')}{note}), {page}")


def find_origin(store: Store, digest: str) -> Origin | None:
    """The first run that made the policy with this digest; None without one. Raises TrackingUnavailable."""
    for _, run in reversed(store.search_runs(policy_filter(digest))):
        if run.data.tags.get("kind") in _MAKES_POLICIES:
            tags = {key: value for key, value in run.data.tags.items() if not key.startswith("mlflow.")}
            name = tags.get("experiment") or run.info.run_name or ""
            return Origin(store, run.info.run_id, name, tags)
    return None


def mixed_groups(runs: "Iterable[StoredRun]") -> list[str]:
    """A line for each group of seeds whose trainings had different code, or versions of what computes."""
    groups: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for run in runs:
        tags = run.data.tags
        if tags.get("kind") == "training" and "group" in tags:
            key = (tags.get("experiment", ""), tags["group"])
            groups.setdefault(key, {})[tags.get("seed", "")] = _made_with(tags)
    lines: list[str] = []
    for (name, _), seeds in groups.items():
        differing = [key for key in (CODE, *COMPUTING) if len({each.get(key) for each in seeds.values()}) > 1]
        shown = [
            f"seed {seed} {', '.join(f'{key} {made.get(key)}' for key in differing)}"
            for seed, made in sorted(seeds.items())
        ]
        lines += [f"{name}: its seeds were trained differently: {'; '.join(shown)}"] if differing else []
    return lines


def _made_with(tags: Mapping[str, str]) -> dict[str, str]:
    """Code and versions of a training; those that resumed it follow those that began it."""
    texts = [json.loads(tags.get(key, "{}")) for key in (VERSIONS, f"{VERSIONS}.resumed")]
    made = {
        name: " and ".join(dict.fromkeys(str(each[name]).partition("+")[0] for each in texts if name in each))
        for name in COMPUTING
    }
    return {**made, CODE: tags.get(CODE, "unknown")}


def deleted_policies(store: Store) -> set[str]:
    """Digests of policies whose trainings were all deleted in MLflow. Raises TrackingUnavailable."""
    kept, deleted = (
        {run.data.tags.get(DIGEST, "") for _, run in store.search_runs("tags.kind = 'training'", deleted=deleted)}
        for deleted in (False, True)
    )
    return deleted - kept - {""}


def policy_artifacts(store: Store, stored: "StoredRun") -> Path | None:
    """The folder of a run's policy, or of its policies `seed_N`, in the store; None if it is not on this disk."""
    condition = f"name = '{POLICY}' AND source_run_id = '{stored.info.run_id}'"
    with store.wrap_errors():
        models = store.client.search_logged_models([stored.info.experiment_id], condition)
    places = [f"{model.artifact_location}/{DATA}" for model in models]
    for place in (f"{stored.info.artifact_uri}/{POLICY}", *places):
        address = urlsplit(place)
        folder = Path(unquote(address.path))
        if address.scheme in ("", "file") and folder.is_dir():
            return short_path(folder)
    return None


def read_artifacts(store: Store, run_id: str, names: Iterable[str]) -> dict[str, str]:
    """Name → text of the artifacts of a run that the store has; empty if the artifact store raises any error."""
    try:
        with tempfile.TemporaryDirectory() as scratch:
            present = {file.path for file in store.client.list_artifacts(run_id)}
            paths = {name: store.client.download_artifacts(run_id, name, scratch) for name in names if name in present}
            return {name: Path(path).read_text(encoding="utf-8") for name, path in paths.items()}
    except Exception:
        return {}
