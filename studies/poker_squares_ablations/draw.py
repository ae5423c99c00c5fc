"""Draws learning_curves.svg from learning_curves.csv.

Usage: draw.py. The file holds what `cardlab evaluate` found for the checkpoints of each training.
"""

import csv
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from cardlab.experiments.report.drawing import COLOURS, GREY, inline_svg, new_figure, report_style

HERE = Path(__file__).parent
COLUMNS = ("minutes", "mean", "low", "high")
LEAST_SHOWN = 76  # points: lower scores would press the upper lines together
BELOW = 123.5  # this label stands under its line: the next line is close above
MARKS = {84.6: "paper's network", 118.2: "best hand-written", 123.5: "best published", 125.4: "first probe"}
"""Scores of others one step ahead: the paper's network, the best hand-written rules, the tables of Neller and others
(2013), and the first experiment of this project."""


def draw_learning_curves() -> Figure:
    """Mean score one step ahead by minutes of one core."""
    with (HERE / "learning_curves.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    figure, axes = new_figure(3.4)
    for height, name in MARKS.items():
        axes.axhline(height, color=GREY, linewidth=1, linestyle=":")
        below = "top" if height == BELOW else "bottom"
        axes.annotate(f"{name} {height}", (0.01, height), xycoords=("axes fraction", "data"), va=below, size=8)
    for colour, experiment in zip(COLOURS, dict.fromkeys(row["experiment"] for row in rows), strict=False):
        own = [row for row in rows if row["experiment"] == experiment]
        minutes, mean, low, high = (np.array([float(row[key]) for row in own]) for key in COLUMNS)
        axes.fill_between(minutes, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(minutes, mean, color=colour, marker="o", label=experiment)
    axes.legend(loc="center right")
    axes.set_xscale("log")
    axes.set_ylim(bottom=LEAST_SHOWN)
    axes.set_xlabel("minutes of one core")
    axes.set_ylabel("points a game")
    return figure


if __name__ == "__main__":
    with report_style():
        (HERE / "learning_curves.svg").write_text(inline_svg(draw_learning_curves(), "poker_squares") + "\n")
