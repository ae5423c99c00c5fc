"""The learning curves of trainings that differ in their seed: their mean with a band, as data and as files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from cardlab.core.files import write_atomically
from cardlab.evaluation.seed_statistics import Band, band_over_seeds, common_range
from cardlab.experiments.learning_curves import Column

Columns = Mapping[str, Column]
"""Name of a column of curve.csv → its values [points]; NaN where there is none."""

_COUNTERS = ("iteration", "decisions")
_SCORES = ("score/", "win_rate/")


def mean_curve(curves: Sequence[Columns], over: str = "decisions") -> Mapping[str, Band]:
    """The mean over seeds of each score and win rate, with its band, at the points of the first that all reach.

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
    """Write the scores and win rates of all seeds as CSV, with a first column `seed`."""
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
