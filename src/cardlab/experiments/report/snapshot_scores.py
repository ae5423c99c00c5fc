"""Picture: scores of the snapshots of a training in duplicate matches."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from cardlab.experiments.report.drawing import COLOURS, GREY, MARKERS, new_figure
from cardlab.experiments.report.results import SELF, Result

TITLE: str = "Scores of snapshots"


def caption(result: Result) -> str:
    """One sentence that explains the picture."""
    deals = (result.snapshot_matches or {}).get("deals", 0)
    if result.alone:
        return f"Points per game of the snapshots, on the same {deals:,} deals; dotted: the references."
    return (
        "Points per game of the snapshots against each reference and against the previous snapshot, "
        f"on {deals:,} deals in every seating; bars are 95 % intervals."
    )


def draw(result: Result) -> Figure | None:
    """A line with intervals per reference, and one for the previous snapshot; None without snapshots."""
    history = result.snapshot_matches
    if history is None or not history["decisions"]:
        return None
    figure, axes = new_figure(3.1)
    decisions: Sequence[int] = history["decisions"]
    for index, (name, rows) in enumerate(history["references"].items()):
        if result.alone and name != SELF:
            axes.axhline(rows[0]["mean"], color=GREY, linewidth=1, linestyle=":")
            axes.text(decisions[-1], rows[0]["mean"], name, color=GREY, ha="right", va="bottom", fontsize=8)
            continue
        _line(axes, decisions, rows, index, "" if result.alone else f"against {name}")
    before = [figures for later, earlier, *figures in history["margins"] if earlier == later - 1]
    if before and not result.alone:
        rows = [{"mean": mean, "low": low, "high": high} for mean, low, high in before]
        _line(axes, decisions[1:], rows, len(history["references"]), "over the previous", dashes=(3, 2))
        axes.axhline(0, color=GREY, linewidth=1, linestyle=":")
    axes.set_xlabel("decisions")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_ylabel("points per game")
    if not result.alone:
        axes.legend(loc="best", fontsize=8)
    return figure


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
