"""Learning curves in CSV files: read, and written for `dvc plots`, one file per game with all its experiments."""

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

COLUMNS = ("game", "experiment", "against", "decisions", "score", "low", "high")
Column = NDArray[np.float64]
_STEM = "interval/score/"


def read_columns(path: Path) -> Mapping[str, Column]:
    """Column → its values [rows] of a CSV file of numbers, NaN where there is none. Raises OSError or ValueError."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name] or "nan") for row in rows]) for name in (rows[0] if rows else ())}


def write_learning_curves(results: Path, experiments: Mapping[str, Any], folder: Path) -> None:
    """Write `folder`/GAME.csv from `results`/NAME/curve.csv: one row per experiment and point of its curve.

    `score` is in points per game against the reference that the last point scores least against, `against`; `low` and
    `high` are the ends of its 95 % interval.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[list[str]]] = {}
    for name, config in experiments.items():
        game = str(config["game"]["name"])
        rows.setdefault(game, []).extend([game, name, *point] for point in _points(results / name / "curve.csv"))
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
