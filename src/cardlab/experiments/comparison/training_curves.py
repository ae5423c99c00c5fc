"""The learning curves of trained policies over decisions and over CPU minutes."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cardlab.agents.specs import seed_number
from cardlab.core.files import load_json
from cardlab.evaluation.seed_statistics import Curve
from cardlab.experiments.learning_curves import Column, read_columns
from cardlab.experiments.run_paths import SUMMARY


@dataclass(frozen=True)
class TrainingCurve:
    """The columns of a learning curve, and the CPU minutes of the training at each of its points."""

    columns: Mapping[str, Column]
    cpu_minutes: Column | None  # evaluations included, spread evenly over the decisions; None if unknown

    def over_decisions(self, column: str) -> Curve:
        """The scores of `column` over decisions."""
        return self.columns["decisions"], self.columns[column]

    def over_cpu(self, column: str) -> Curve | None:
        """The scores of `column` over CPU minutes; None where these are unknown."""
        return None if self.cpu_minutes is None else (self.cpu_minutes, self.columns[column])


def read_training_curve(policy: Path) -> TrainingCurve | None:
    """The curve of the training that made the policy in models/ or runs/; None without one.

    It is in results/NAME/ for models/NAME: in seed_curves.csv for models/NAME/seed_N, else in curve.csv; for
    runs/NAME/…/policy it is beside the policy. The cost is in training.json there.
    """
    seed = seed_number(policy)
    model = policy if seed is None else policy.parent
    folder = model.parent.with_name("results") / model.name if model.parent.name == "models" else policy.parent
    try:
        columns = read_columns(folder / ("curve.csv" if seed is None else "seed_curves.csv"))
    except (OSError, ValueError):
        return None
    if seed is not None:
        columns = {name: column[columns["seed"] == seed] for name, column in columns.items()}
    if not columns or not len(columns["decisions"]):
        return None
    minutes = None
    with suppress(OSError, ValueError, KeyError):
        training = load_json(folder / SUMMARY)
        training = training["seeds"][str(seed)] if seed is not None else training
        minutes = columns["decisions"] * (training["cpu_seconds"] / training["decisions"] / 60)
    return TrainingCurve(columns, minutes)
