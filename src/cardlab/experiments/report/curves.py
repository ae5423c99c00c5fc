"""Curves over the decisions of a training: learning curves of a game's experiments, and scores of snapshots."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from cardlab.agents.specs import metric_name
from cardlab.evaluation.intervals import SELF
from cardlab.evaluation.seed_statistics import Band
from cardlab.experiments.report.drawing import (
    COLOURS,
    GREY,
    HEIGHT,
    MARKERS,
    Drawn,
    draw_mean,
    legend_above,
    new_figure,
)
from cardlab.experiments.report.read_results import Column, Result


def draw_learning_curves(results: Sequence[Result]) -> Drawn | None:
    """The scores of a game's experiments, best first, against the best's strongest reference; a band for each.

    None when none of them was measured.
    """
    best = results[0]
    name = f"score/{metric_name(best.main_score[0])}"
    columns = ("decisions", name, f"interval/{name}_low", f"interval/{name}_high")
    drawn = [(index, result) for index, result in enumerate(results) if set(columns) <= set(result.curve)]
    if not drawn:
        return None
    figure, axes = new_figure(HEIGHT)
    for index, result in drawn:
        band = Band(*(result.curve[column] for column in columns), seeds=len(result.seeds))
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        draw_mean(axes, band, _lines_of_seeds(result, name), colour, result.name, marker)
    reference, level = best.strongest_reference
    axes.axhline(level, color=GREY, linewidth=1, linestyle=":", label=reference)
    _label_axes(axes, "points per game" if best.alone else f"points per game against {reference}")
    legend_above(axes)
    deals = " or ".join(f"{n:,}" for n in sorted({result.config["trainer"]["evaluation_deals"] for _, result in drawn}))
    measure = "Points per game" if best.alone else f"Points per game against {reference}"
    seeds = " or ".join(sorted({str(len(result.seeds)) for _, result in drawn}))
    about = f"{measure} during training: mean over {seeds} seeds with 95 % band, faint lines: each seed"
    return figure, f"{about}; {deals} deals per point."


def _lines_of_seeds(result: Result, name: str) -> Iterator[tuple[Column, Column]]:
    """Decisions and scores of each seed, if there are several."""
    curves = result.seed_curves
    if curves is not None and name in curves and len(result.seeds) > 1:
        for seed in result.seeds:
            rows = curves["seed"] == seed
            yield curves["decisions"][rows], curves[name][rows]


def draw_snapshot_scores(result: Result) -> Drawn | None:
    """A line with intervals per reference, and one for the previous snapshot; None without snapshots."""
    matches = result.snapshot_matches
    if matches is None or not matches["decisions"]:
        return None
    figure, axes = new_figure(HEIGHT)
    decisions: Sequence[int] = matches["decisions"]
    for index, (name, rows) in enumerate(matches["references"].items()):
        if not result.alone or name == SELF:
            _line(axes, decisions, rows, index, "" if result.alone else f"against {name}")
    before = [figures for later, earlier, *figures in matches["margins"] if earlier == later - 1]
    if before and not result.alone:
        rows = [{"mean": mean, "low": low, "high": high} for mean, low, high in before]
        _line(axes, decisions[1:], rows, len(matches["references"]), "over the previous", dashes=(3, 2))
    _label_axes(axes, "points per game")
    deals = f"{matches['deals']:,} deals; bars are 95 % intervals."
    if result.alone:
        return figure, f"Points per game of the snapshots on the same {deals}"
    axes.axhline(0, color=GREY, linewidth=1, linestyle=":")
    legend_above(axes)
    return figure, f"Points per game of the snapshots against each reference and the previous snapshot, {deals}"


def _label_axes(axes: Axes, measure: str) -> None:
    axes.set_xlabel("decisions")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_ylabel(measure)


def _line(
    axes: Axes,
    at: Sequence[int],
    rows: Sequence[Mapping[str, Any]],
    index: int,
    label: str,
    dashes: tuple[int, ...] = (),
) -> None:
    mean, low, high = (np.array([row[key] for row in rows]) for key in ("mean", "low", "high"))
    colour = COLOURS[index % len(COLOURS)]
    axes.vlines(at, low, high, color=colour, linewidth=2.5, alpha=0.35)
    (line,) = axes.plot(at, mean, color=colour, marker=MARKERS[index % len(MARKERS)], label=label or "_")
    if dashes:
        line.set_dashes(dashes)
