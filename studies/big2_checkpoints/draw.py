"""Draws scores.svg from scores.csv.

Usage: draw.py.
"""

import csv
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from cardlab.experiments.report.drawing import COLOURS, GREY, inline_svg, new_grid, report_style

HERE = Path(__file__).parent
COLUMNS = ("decisions", "mean", "low", "high")
PAPER_SCORE = 13.4  # points a game against three random players that the paper reports at its end


def draw_scores() -> Figure:
    """Points a game of each checkpoint, against references and against older checkpoints."""
    with (HERE / "scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    figure, (outer, inner) = new_grid([3.4, 2.8])
    outer.axhline(PAPER_SCORE, color=GREY, linewidth=1, linestyle=":")
    label = f"paper against random {PAPER_SCORE}"
    outer.annotate(label, (0.99, PAPER_SCORE), xycoords=("axes fraction", "data"), ha="right", va="top", size=8)
    inner.axhline(0, color=GREY, linewidth=1, linestyle=":")
    for colour, against in zip(COLOURS, dict.fromkeys(row["against"] for row in rows), strict=False):
        own = [row for row in rows if row["against"] == against]
        axes = inner if against.startswith("itself") else outer
        decisions, mean, low, high = (np.array([float(row[key]) for row in own]) for key in COLUMNS)
        axes.errorbar(decisions / 1e6, mean, yerr=(mean - low, high - mean), color=colour, marker="o", label=against)
    outer.set_ylim(bottom=0)
    for axes in (outer, inner):
        axes.set_xlabel("million decisions")
        axes.set_ylabel("points a game")
        axes.set_xlim(0, 1.05 * int(rows[-1]["decisions"]) / 1e6)
        axes.legend(loc="lower center", ncols=3)
    return figure


if __name__ == "__main__":
    with report_style():
        (HERE / "scores.svg").write_text(inline_svg(draw_scores(), "big2") + "\n")
