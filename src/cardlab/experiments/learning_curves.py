"""Learning curves of trained policies: read from files, their mean over seeds, and written for `dvc plots`."""

import csv
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.policy_descriptions import PolicyError, policy_digest
from cardlab.agents.specs import seed_number
from cardlab.core.files import load_json, write_atomically
from cardlab.evaluation.seed_statistics import Band, Curve, band_over_seeds, common_range
from cardlab.experiments.run_paths import SUMMARY
from cardlab.tracking.connection import project_root
from cardlab.tracking.lineage import CURVE

COLUMNS = ("game", "experiment", "against", "decisions", "score", "low", "high")
Column = NDArray[np.float64]
_STEM = "interval/score/"


def read_columns(path: Path) -> Mapping[str, Column]:
    """Column → its values [rows] of a CSV file of numbers, NaN where there is none. Raises OSError or ValueError."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name] or "nan") for row in rows]) for name in (rows[0] if rows else ())}


def write_learning_curves(results: Path, games: Mapping[str, str], folder: Path) -> None:
    """Write `folder`/GAME.csv from `results`/NAME/curve.csv: one row per experiment and point of its curve.

    `games`: experiment → its game. `score` is in points per game against the reference that the last point scores least
    against, `against`; `low` and `high` are the ends of its 95 % interval.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[list[str]]] = {}
    for name, game in games.items():
        rows.setdefault(game, []).extend([game, name, *point] for point in _points(results / name / CURVE))
    for game, points in rows.items():
        with (folder / f"{game}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([COLUMNS, *points])


def _points(path: Path) -> list[list[str]]:
    """Against, decisions, score and the ends of its interval, of each point of a curve."""
    with path.open(newline="", encoding="utf-8") as file:
        curve = list(csv.DictReader(file))
    if not curve:
        return []
    measured = [
        name[len(_STEM) : -len("_low")] for name in curve[0] if name.startswith(_STEM) and name.endswith("_low")
    ]
    against = min(measured, key=lambda name: float(curve[-1][f"score/{name}"]))
    columns = ("decisions", f"score/{against}", f"{_STEM}{against}_low", f"{_STEM}{against}_high")
    return [[against, *(row[column] for column in columns)] for row in curve]


Columns = Mapping[str, Column]
"""Name of a column of curve.csv → its values [points]; NaN where there is none."""

_COUNTERS = ("iteration", "decisions")
EXACT = ("exploitability", "nash_conv")  # of games that are measured whole
_SCORES = ("score/", "win_rate/", *EXACT)


def mean_curve(curves: Sequence[Columns], over: str = "decisions") -> Mapping[str, Band]:
    """Means over seeds of scores, win rates and exploitability, with bands, at the points of the first that all have.

    `over`: decisions or iteration. The ends are the common range. Curves are linear between their points, which differ
    by a few decisions.
    """
    names = [name for name in curves[0] if name.startswith(_SCORES)]
    shared = [name for name in names if all(name in curve for curve in curves)]
    pairs = {name: [(curve[over], curve[name]) for curve in curves] for name in shared}
    return {name: band_over_seeds(pairs[name], _places(curves, over)) for name in shared}


def write_mean_curve(curves: Sequence[Columns], path: Path) -> None:
    """Write the mean as CSV: counters, then each score with the ends of its band under `interval/`, as in curve.csv.

    The curve of one seed keeps its intervals over deals.
    """
    if len(curves) == 1 or not all(curves):
        _write({name: column.tolist() for name, column in curves[0].items()}, path)
        return
    places, columns = _places(curves), dict[str, list[float]]()
    for name in _COUNTERS:
        columns[name] = np.interp(places, curves[0]["decisions"], curves[0][name]).round().tolist()
    for name, band in mean_curve(curves).items():
        columns[name] = band.mean.tolist()
        columns[f"interval/{name}_low"], columns[f"interval/{name}_high"] = band.low.tolist(), band.high.tolist()
    _write(columns, path)


def write_seed_curves(curves: Mapping[int, Columns], path: Path) -> None:
    """Write what `mean_curve` takes of all seeds as CSV, with a first column `seed`."""
    names = [name for name in next(iter(curves.values())) if name.startswith(_SCORES)]
    columns: dict[str, list[float]] = {name: [] for name in ("seed", *_COUNTERS, *names)}
    for seed, curve in curves.items():
        columns["seed"] += [float(seed)] * len(curve.get("decisions", ()))
        for name in (*_COUNTERS, *names):
            columns[name] += curve[name].tolist() if curve else []
    _write(columns, path)


def _places(curves: Sequence[Columns], over: str = "decisions") -> Column:
    first, last = common_range([(curve[over], curve[over]) for curve in curves])
    places = curves[0][over]
    return np.unique(places.clip(first, last))


def _write(columns: Mapping[str, Sequence[float]], path: Path) -> None:
    rows = zip(*columns.values(), strict=True)
    counts = ("seed", *_COUNTERS)
    lines = [",".join(columns)]
    for row in rows:
        cells = zip(columns, row, strict=True)
        lines.append(",".join(str(int(value)) if name in counts else f"{value:.6g}" for name, value in cells))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "\n".join(lines) + "\n")


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
    runs/NAME/…/policy it is beside the policy. The cost is in the training.json of the run folder.
    """
    seed = seed_number(policy)
    model = policy if seed is None else policy.parent
    folder = model.parent.with_name("results") / model.name if model.parent.name == "models" else policy.parent
    try:
        columns = read_columns(folder / (CURVE if seed is None else "seed_curves.csv"))
    except (OSError, ValueError):
        return None
    if seed is not None:
        columns = {name: column[columns["seed"] == seed] for name, column in columns.items()}
    if not columns or not len(columns["decisions"]):
        return None
    training = _summary(policy, project_root() / "runs" / model.name)
    minutes = columns["decisions"] * (training["cpu_seconds"] / training["decisions"] / 60) if training else None
    return TrainingCurve(columns, minutes)


def _summary(policy: Path, runs: Path) -> Mapping[str, Any]:
    """The training.json beside a policy, or in `runs` that of the training that made it; empty without one."""
    for path in (policy.with_name(SUMMARY), *sorted(runs.glob(f"*/{SUMMARY}"))):
        with suppress(OSError, ValueError, KeyError, PolicyError):
            found = load_json(path)
            if found["policy_digest"] == policy_digest(policy):
                return found
    return {}
