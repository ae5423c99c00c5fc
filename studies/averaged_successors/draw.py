"""Draws cumulative_score.svg from the learning curves in this folder and equal_compute.svg from equal_compute.csv.

Usage: draw.py. The learning curves are the curve.csv that `cardlab train` wrote; the README has the commands.
"""

import csv
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from numpy.typing import NDArray

from cardlab.evaluation.intervals import estimate
from cardlab.experiments.report.drawing import COLOURS, GREY, inline_svg, new_figure, report_style

HERE = Path(__file__).parent

Curve = dict[str, NDArray[np.float64]]


def read_curve(name: str) -> Curve:
    """Column → its values, one for each row of NAME.csv."""
    with (HERE / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {column: np.array([float(row[column]) for row in rows]) for column in rows[0]}


def played_games(curve: Curve) -> NDArray[np.float64]:
    """Training games played until each point."""
    return np.cumsum(np.diff(curve["decisions"], prepend=0) / curve["game_decisions"])


def draw_cumulative_score() -> Figure:
    """Cumulative score of the training games, exploration included."""
    figure, axes = new_figure(3.4)
    series = {
        "naive": "naive",
        "averaged_1": "averaged, M = 1",
        "averaged_4": "averaged, M = 4",
        "averaged_16": "averaged, M = 16",
        "averaged_16_max": "M = 16, maximum of the mean",
        "all_outputs": "naive, trained on all outputs",
    }
    for colour, (name, label) in zip(COLOURS, series.items(), strict=False):
        curve = read_curve(name)
        games = played_games(curve)
        points = np.cumsum(np.diff(games, prepend=0) * curve["payoff"])
        axes.plot(games, points, color=colour, label=label)
    axes.axhline(0, color=GREY, linewidth=1, linestyle=":")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlabel("games")
    axes.set_ylabel("points in all")
    axes.legend(loc="upper left", fontsize=8)
    return figure


def draw_equal_compute() -> Figure:
    """Points against random after equal CPU seconds, by target: each seed, and their mean."""
    with (HERE / "equal_compute.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    figure, axes = new_figure(2.8)
    names = list(dict.fromkeys(row["target"] for row in rows))
    for place, name in enumerate(reversed(names)):
        points = np.array([float(row["points"]) for row in rows if row["target"] == name])
        mean = estimate(points)
        axes.plot(points, np.full(points.size, place), ".", color=GREY)
        axes.errorbar(mean.mean, place, xerr=mean.half_width, color=COLOURS[0], marker="o", capsize=3)
    axes.set_yticks(range(len(names)), reversed(names))
    axes.set_xlabel("points a game against random")
    return figure


def write(name: str, figure: Figure, label: str) -> None:
    """Write NAME.svg; `label` is its text for screen readers."""
    svg = inline_svg(figure, label).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    (HERE / f"{name}.svg").write_text(svg + "\n")


if __name__ == "__main__":
    with report_style():
        write("cumulative_score", draw_cumulative_score(), "Open-face: cumulative score against random by games")
        write("equal_compute", draw_equal_compute(), "Open-face: points against random by target, at equal CPU seconds")
