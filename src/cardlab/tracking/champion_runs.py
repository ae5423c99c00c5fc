"""Runs of a champion that a fresh store lacks, made again from the files in the champion's folder."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.core.files import load_json, read_text
from cardlab.evaluation.intervals import main_score
from cardlab.tracking.experiment_tags import AGAINST, DEALS, FINAL_SCORE, evaluation_metrics
from cardlab.tracking.lineage import DIGEST, NOTE, RESTORED, UNCOMMITTED
from cardlab.tracking.run import Run
from cardlab.tracking.store import Store

LINEAGE, CURVE, EVALUATION, DECISION = "lineage.json", "curve.csv", "evaluation.json", "decision.json"
_NOT_OURS = ("git.commit", "git.dirty", "mlflow.source.git.commit", "python", "versions", "machine", "cpus")
"""Tags of the lineage, which of this process are not those of the original run."""


def restore_runs(store: Store, folder: Path, game: str, name: str) -> str:
    """Make the runs that trained, measured and promoted the champion in `folder`; the id of the first.

    So are the trainings of the policies that it started from or met. Where its lineage is unknown, the run says only
    that it was registered.
    """
    lineage, evaluation, decision = (_json(folder / file) for file in (LINEAGE, EVALUATION, DECISION))
    shared = {DIGEST: policy_digest(folder), "experiment": name}
    if not lineage.get("config"):
        with store.start_run(game, f"{name} · registration", tags={**shared, "kind": "registration"}) as run:
            return run.id
    for link in reversed(lineage.get("chain", [])):
        if link["config"]:
            about = {DIGEST: link["digest"], "experiment": str(link["config"].get("name", link["policy"]))}
            _training(store, game, about, link, folder, {}, ())
    against, score = main_score(evaluation) if evaluation else ("", None)
    figures = evaluation_metrics(evaluation) if evaluation else {}
    scored = {AGAINST: against, DEALS: score.deals} if score else {}
    final = {key: value for key, value in figures.items() if FINAL_SCORE in key}
    made_by = _training(store, game, {**shared, **scored}, lineage, folder, final, (CURVE, UNCOMMITTED))
    tags = {**shared, "training_run": made_by, RESTORED: lineage["promotion_run"]}
    if evaluation:
        _measurement(store, game, {**tags, **scored, "kind": "evaluation"}, folder, figures, EVALUATION)
    if decision:
        difference: Mapping[str, float] = decision["difference"]
        metrics = {f"promotion/{key}": difference[value] for key, value in _DIFFERENCE.items()}
        tags |= {"promotion.accepted": "true", "promotion.opponent": decision["opponent"]["digest"] or "none"}
        metrics["promotion/deals"] = decision["deals"]
        _measurement(store, game, {**tags, "kind": "promotion"}, folder, metrics, DECISION)
    return made_by


_DIFFERENCE = {"difference": "mean", "difference_low": "low", "difference_high": "high"}


def _training(
    store: Store,
    game: str,
    tags: Mapping[str, object],
    record: Mapping[str, Any],
    folder: Path,
    final: Mapping[str, float],
    files: Sequence[str],
) -> str:
    """Make the run of a training: parameters, curve, score, tags and files; its id."""
    config: Mapping[str, Any] = record["config"]
    tags = {**record["tags"], **tags, "kind": "training", RESTORED: record.get("run") or "unknown"}
    with _restored(store, game, f"{tags['experiment']} · seed {config.get('seed')}", tags, folder, config) as run:
        iteration, last = int(config.get("agent", {}).get("decisions_per_iteration", 1)), 0
        for row in _rows(folder / CURVE) if CURVE in files else ():
            values = {key: float(text) for key, text in row.items() if text and not key.startswith("interval/")}
            last = int(values.pop("iteration")) * iteration
            del values["decisions"]
            run.log_metrics(values, last)
        run.log_metrics(final, last)
        for file in files:
            run.log_artifact(folder / file)
    return run.id


def _measurement(
    store: Store, game: str, tags: Mapping[str, object], folder: Path, metrics: Mapping[str, float], file: str
) -> None:
    """Make the run of an evaluation or a promotion: its figures and its file."""
    with _restored(store, game, f"{tags['experiment']} · {tags['kind']}", tags, folder) as run:
        run.log_metrics(metrics, 0)
        run.log_artifact(folder / file)


def _restored(
    store: Store,
    game: str,
    title: str,
    tags: Mapping[str, object],
    folder: Path,
    config: Mapping[str, Any] | None = None,
) -> Run:
    """Start a run whose lineage is that of the original, as far as it is known."""
    about = f"{tags['kind']} of {tags['experiment']} on {game}, made again from {folder.as_posix()}"
    unknown = dict.fromkeys(_NOT_OURS, "unknown")
    commit = {"mlflow.source.git.commit": tags.get("git.commit", "unknown")}
    return store.start_run(game, title, tags={**unknown, NOTE: about, **commit, **tags}, params=config)


def _json(path: Path) -> dict[str, Any]:
    return load_json(path) if path.is_file() else {}


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(read_text(path).splitlines())) if path.is_file() else []
