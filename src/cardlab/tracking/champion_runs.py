"""Runs of a champion that a fresh store lacks, made again from the files in the champion's folder."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.core.files import load_json, read_text
from cardlab.tracking.experiment_tags import AGAINST, DEALS, FINAL_SCORE, evaluation_metrics
from cardlab.tracking.lineage import CURVE, DIGEST, FOLDER, NOTE, RESTORED, UNCOMMITTED
from cardlab.tracking.store import Store

Rows = Sequence[tuple[int, Mapping[str, float]]]  # step and metrics
CARD, LINEAGE, EVALUATION, DECISION = "README.md", "lineage.json", "evaluation.json", "decision.json"
"""Files of a champion's folder."""
_NOT_OURS = ("git.commit", "git.dirty", FOLDER, "mlflow.source.git.commit", "python", "versions", "machine", "cpus")
"""Tags of the lineage, which of this process are not those of the original run."""


def restore_runs(store: Store, folder: Path, game: str, name: str) -> str:
    """Make the runs that trained, measured and promoted the champion in `folder`; the id of the first.

    So are the trainings of the policies that it started from or met. Where its lineage is unknown, the run says only
    that it was registered.
    """
    from cardlab.evaluation.intervals import main_score  # noqa: PLC0415  scipy

    lineage, evaluation, decision = (_json(folder / file) for file in (LINEAGE, EVALUATION, DECISION))
    shared = {DIGEST: policy_digest(folder), "experiment": name}
    if not lineage.get("config"):
        with store.start_run(game, f"{name} · registration", tags={**shared, "kind": "registration"}) as run:
            return run.id

    def training(
        record: Mapping[str, Any], tags: Mapping[str, object], rows: Rows = (), files: Sequence[str] = ()
    ) -> str:
        known = {**record["tags"], **tags, "kind": "training", RESTORED: record.get("run") or "unknown"}
        return _restore(store, game, folder, known, rows, files, record["config"])

    for link in reversed(lineage.get("chain", [])):
        if link["config"]:
            training(link, {DIGEST: link["digest"], "experiment": str(link["config"].get("name", link["policy"]))})
    against, score = main_score(evaluation) if evaluation else ("", None)
    figures = evaluation_metrics(evaluation) if evaluation else {}
    scored = {AGAINST: against, DEALS: score.deals} if score else {}
    curve = _curve(folder, lineage["config"])
    final = {key: value for key, value in figures.items() if FINAL_SCORE in key}
    rows = [*curve, (curve[-1][0] if curve else 0, final)]
    made_by = training(lineage, {**shared, **scored}, rows, (CURVE, UNCOMMITTED))
    tags = {**shared, "training_run": made_by, RESTORED: lineage["promotion_run"]}
    if evaluation:
        _restore(store, game, folder, {**tags, **scored, "kind": "evaluation"}, [(0, figures)], [EVALUATION])
    if decision:
        difference: Mapping[str, float] = decision["difference"]
        ends = {"difference": "mean", "difference_low": "low", "difference_high": "high"}
        metrics = {f"promotion/{key}": difference[value] for key, value in ends.items()}
        tags |= {"promotion.accepted": "true", "promotion.opponent": decision["opponent"]["digest"] or "none"}
        metrics["promotion/deals"] = decision["deals"]
        _restore(store, game, folder, {**tags, "kind": "promotion"}, [(0, metrics)], [DECISION])
    return made_by


def _restore(
    store: Store,
    game: str,
    folder: Path,
    tags: Mapping[str, object],
    rows: Rows,
    files: Sequence[str],
    config: Mapping[str, Any] | None = None,
) -> str:
    """Make a run whose lineage is that of the original, as far as it is known; its id."""
    about = f"{tags['kind']} of {tags['experiment']} on {game}, made again from {folder.as_posix()}"
    title = f"{tags['experiment']} · " + (str(tags["kind"]) if config is None else f"seed {config.get('seed')}")
    commit = {"mlflow.source.git.commit": tags.get("git.commit", "unknown")}
    known = {**dict.fromkeys(_NOT_OURS, "unknown"), NOTE: about, **commit}
    with store.start_run(game, title, tags={**known, **tags}, params=config) as run:
        for step, metrics in rows:
            run.log_metrics(metrics, step)
        for file in files:
            run.log_artifact(folder / file)
    return run.id


def _curve(folder: Path, config: Mapping[str, Any]) -> list[tuple[int, dict[str, float]]]:
    """The learning curve, without its intervals."""
    if not (folder / CURVE).is_file():
        return []
    decisions = int(config.get("agent", {}).get("decisions_per_iteration", 1))
    rows: list[tuple[int, dict[str, float]]] = []
    for row in csv.DictReader(read_text(folder / CURVE).splitlines()):
        values = {key: float(text) for key, text in row.items() if text and not key.startswith("interval/")}
        del values["decisions"]
        rows.append((int(values.pop("iteration")) * decisions, values))
    return rows


def _json(path: Path) -> dict[str, Any]:
    return load_json(path) if path.is_file() else {}
