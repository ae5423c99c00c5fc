"""What the stages before the report have left: learning curves and evaluations, read and checked."""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SELF = "self"  # the evaluated policy itself, in a game of one player

Column = NDArray[np.float64]


class ResultError(ValueError):
    """A file of results is missing or not what it should be; the message is one line that names it."""


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Result:
    """One experiment: its configuration and what came of it."""

    name: str
    config: Mapping[str, Any]  # as in params.yaml
    evaluation: Mapping[str, Any]  # as in evaluation.json
    curve: Mapping[str, Column]  # column → [points]; NaN where a point has no value

    @property
    def game(self) -> str:
        """Name of the game."""
        return str(self.evaluation["game"])

    @property
    def alone(self) -> bool:
        """Whether the game has one player, so that points are its only measure."""
        return SELF in self.evaluation["references"]

    @property
    def fair_share(self) -> float:
        """The share of games that each of equally strong players wins."""
        return 1 / int(self.config["game"].get("num_players", 2))

    @property
    def references(self) -> list[str]:
        """Who it was measured against, in the order of the evaluation; for one player the policy itself comes first."""
        return list(self.evaluation["references"])

    def points(self, reference: str) -> Interval:
        """Points against `reference`; for one player the points that `reference` makes itself."""
        row = self.evaluation["references"][reference]
        return Interval(row["mean"], row["low"], row["high"])

    def win_rate(self, reference: str) -> Interval | None:
        """Share of games won against `reference`; None for one player."""
        row = self.evaluation["references"][reference]
        if row.get("win_rate") is None:
            return None
        return Interval(row["win_rate"], row["win_rate_low"], row["win_rate_high"])

    def deals(self, reference: str) -> int:
        """How many deals were played."""
        return int(self.evaluation["references"][reference]["deals"])


def read_results(folder: Path, experiments: Mapping[str, Any]) -> list[Result]:
    """The results of `experiments` (name → configuration) in their order; ResultError when one is missing or torn."""
    return [
        Result(name, config, _read_evaluation(folder / name / "evaluation.json"), _read_curve(folder / name))
        for name, config in experiments.items()
    ]


def _read_evaluation(path: Path) -> Mapping[str, Any]:
    try:
        evaluation = json.loads(path.read_text(encoding="utf-8"))
        version, references = evaluation["format"], evaluation["references"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ResultError(f"{path}: is not an evaluation ({error!r}): run `dvc repro`") from error
    if version != 1 or not references:
        raise ResultError(f"{path}: format {version}, this version reads 1: run `dvc repro`")
    return evaluation


def _read_curve(folder: Path) -> Mapping[str, Column]:
    path = folder / "curve.csv"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        names = list(rows[0]) if rows else []
        return {name: np.array([float(row[name] or "nan") for row in rows]) for name in names}
    except (OSError, ValueError, TypeError) as error:
        raise ResultError(f"{path}: is not a learning curve ({error}): run `dvc repro`") from error
