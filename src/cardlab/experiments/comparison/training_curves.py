"""The learning curves of trained policies over decisions and over CPU minutes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cardlab.agents.policy_files import policy_digest
from cardlab.evaluation.seed_curves import Curve
from cardlab.experiments.learning_curves import Column, read_columns
from cardlab.tracking import Store, TrackingUnavailable
from cardlab.tracking.policy_lookup import policy_filter

_CPU = "system/cpu_seconds"


@dataclass(frozen=True)
class TrainingCurve:
    """The columns of a curve.csv, and the CPU minutes of the training at each of its points."""

    columns: Mapping[str, Column]
    cpu_minutes: Column | None  # evaluations included; None if unknown

    def over_decisions(self, column: str) -> Curve:
        """The scores of `column` over decisions."""
        return self.columns["decisions"], self.columns[column]

    def over_cpu(self, column: str) -> Curve | None:
        """The scores of `column` over CPU minutes; None where these are unknown."""
        return None if self.cpu_minutes is None else (self.cpu_minutes, self.columns[column])


def read_training_curve(policy: Path, game: str, store: Store) -> TrainingCurve | None:
    """The curve of the training that made the policy in models/ or runs/; None without one.

    CPU minutes are those of training.json in results/, spread evenly over the decisions, else those of the run in
    `store`.
    """
    models = next((folder for folder in policy.parents if folder.name == "models"), None)
    results = policy.parent if models is None else models.with_name("results") / policy.relative_to(models)
    try:
        columns = read_columns(results / "curve.csv")
    except (OSError, ValueError):
        return None
    if not columns:
        return None
    summary = results / "training.json"
    if summary.is_file():
        training = json.loads(summary.read_text())
        spent = ([0.0, training["decisions"]], [0.0, training["cpu_seconds"]])
    else:
        spent = _recorded_cpu(policy, game, store)
    return TrainingCurve(columns, None if spent is None else np.interp(columns["decisions"], *spent) / 60)


def _recorded_cpu(policy: Path, game: str, store: Store) -> tuple[Sequence[float], Sequence[float]] | None:
    """Decisions and CPU seconds of the run that made the policy; None if the store has none."""
    if store.file is not None and not store.file.exists():
        return None  # reading makes no store
    condition = f"tags.kind = 'training' and {policy_filter(policy_digest(policy))}"
    try:
        with store.wrap_errors():
            for _, run in store.search_runs(condition, game, 1):
                rows = sorted(store.client.get_metric_history(run.info.run_id, _CPU), key=lambda row: row.step)
                return ([row.step for row in rows], [row.value for row in rows]) if rows else None
    except TrackingUnavailable:
        pass
    return None
