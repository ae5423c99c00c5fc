"""Draws value_estimates.svg from bootstrapped.csv and final_scores.csv.

Usage: draw.py. Both files are the curve.csv that `cardlab train` wrote on 20 November 2026.
"""

import csv
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from numpy.typing import NDArray

from cardlab.experiments.report.drawing import COLOURS, inline_svg, new_figure, report_style

HERE = Path(__file__).parent
DECISIONS_PER_GAME = 24  # the last card has one cell left
POINTS_PER_VALUE = 100.0  # agent.reward_scale of both trainings

Curve = dict[str, NDArray[np.float64]]


def read_curve(name: str) -> Curve:
    """Column → its values, one for each row of NAME.csv."""
    with (HERE / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {column: np.array([float(row[column]) for row in rows]) for column in rows[0]}


def draw_estimates() -> Figure:
    """Predicted and real score with either target at the same learning rate."""
    figure, axes = new_figure(3.1)
    series = {"bootstrapped": "bootstrapping", "final_scores": "final scores as targets"}
    for index, (name, label) in enumerate(series.items()):
        curve = read_curve(name)
        games = curve["decisions"] / DECISIONS_PER_GAME
        points = curve["value"] * POINTS_PER_VALUE
        axes.plot(games, points, color=COLOURS[index], label=f"{label}: predicted")
        axes.plot(games, curve["strength/self"], color=COLOURS[index], linestyle="--", label=f"{label}: scored")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlabel("games")
    axes.set_ylabel("points")
    axes.legend(loc="center right")
    return figure


def write(name: str, figure: Figure, label: str) -> None:
    """Write NAME.svg; `label` is its text for screen readers."""
    svg = inline_svg(figure, label).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    (HERE / f"{name}.svg").write_text(svg + "\n")


if __name__ == "__main__":
    with report_style():
        write("value_estimates", draw_estimates(), "Poker Squares: predicted and real score by games and target")
