"""Curves over the decisions of a training: its learning curve, and the scores of its snapshots."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, PercentFormatter

from cardlab.experiments.report.drawing import COLOURS, GREY, MARKERS, Drawn, new_figure
from cardlab.experiments.report.read_results import SELF, Result


def draw_learning_curve(result: Result) -> Drawn | None:
    """How strong the policy was as it learned: a line with its band per reference; None when nothing was measured."""
    stem = "score/" if result.alone else "win_rate/"
    means = [name for name in result.curve if name.startswith(stem) and f"interval/{name}_low" in result.curve]
    names = [name for name in means if np.isfinite(result.curve[name]).any()]
    if not names:
        return None
    figure, axes = new_figure(3.1)
    decisions = result.curve["decisions"]
    for index, name in enumerate(names):
        mean, low, high = (result.curve[key] for key in (name, f"interval/{name}_low", f"interval/{name}_high"))
        colour = COLOURS[index % len(COLOURS)]
        axes.fill_between(decisions, low, high, color=colour, alpha=0.18, linewidth=0)
        label = name.split("/", 1)[1]
        axes.plot(decisions, mean, color=colour, marker=MARKERS[index % len(MARKERS)], label=label)
    _label_axes(axes, "points" if result.alone else "matches won")
    if not result.alone:
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.axhline(result.fair_share, color=GREY, linewidth=1, linestyle=":")
        axes.legend(loc="best")
    measure = "Points by the policy itself" if result.alone else "Matches won against each reference"
    deals = result.config["trainer"]["evaluation_deals"]
    return figure, f"{measure} as it learns, on {deals:,} deals a point; the band is the 95 % interval."


def draw_snapshot_scores(result: Result) -> Drawn | None:
    """A line with intervals per reference, and one for the previous snapshot; None without snapshots."""
    matches = result.snapshot_matches
    if matches is None or not matches["decisions"]:
        return None
    figure, axes = new_figure(3.1)
    decisions: Sequence[int] = matches["decisions"]
    for index, (name, rows) in enumerate(matches["references"].items()):
        if result.alone and name != SELF:
            axes.axhline(rows[0]["mean"], color=GREY, linewidth=1, linestyle=":")
            axes.text(decisions[-1], rows[0]["mean"], name, color=GREY, ha="right", va="bottom", fontsize=8)
            continue
        _line(axes, decisions, rows, index, "" if result.alone else f"against {name}")
    before = [figures for later, earlier, *figures in matches["margins"] if earlier == later - 1]
    if before and not result.alone:
        rows = [{"mean": mean, "low": low, "high": high} for mean, low, high in before]
        _line(axes, decisions[1:], rows, len(matches["references"]), "over the previous", dashes=(3, 2))
        axes.axhline(0, color=GREY, linewidth=1, linestyle=":")
    _label_axes(axes, "points per game")
    if result.alone:
        return (
            figure,
            f"Points per game of the snapshots, on the same {matches['deals']:,} deals; dotted: the references.",
        )
    axes.legend(loc="best", fontsize=8)
    return figure, (
        "Points per game of the snapshots against each reference and against the previous snapshot, "
        f"on {matches['deals']:,} deals in every seating; bars are 95 % intervals."
    )


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
