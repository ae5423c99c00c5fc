"""Draws big2.svg, thirty_one.svg, poker_squares.svg and open_face.svg from the learning curves in this folder.

Usage: draw.py. The curves of Big 2 are the curve.csv that `cardlab train` wrote. thirty_one_paper.csv and
poker_squares_online.csv have columns of several of them. big2_paper_evaluation.json is the output of `cardlab
evaluate`, open_face_total_points.csv that of total_points.py. The README has the commands.
"""

import csv
import json
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter
from numpy.typing import NDArray

from cardlab.experiments.report.drawing import COLOURS, GREY, inline_svg, new_figure, report_style

HERE = Path(__file__).parent
VERSIONS = {"paper_bootstrap": "first version: bootstrapped", "paper": "second version: final scores"}
TABLES = {
    "greedy_stock_only and random": "greedy as coded and random: the table of the training",
    "random": "two random",
    "greedy_stock_only": "two greedy as coded",
    "greedy": "two greedy as described",
}
OPEN_FACE = {"naive": "naive", "greedy_start": "greedy start", "averaged": "averaged successors"}
BIG2_DECISIONS = 131e6  # of the whole recipe
BIG2_REPORTED = 13.4  # points against random in the paper

Curve = dict[str, NDArray[np.float64]]


def read_rows(name: str) -> list[dict[str, str]]:
    """The rows of NAME.csv."""
    with (HERE / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def read_curve(name: str) -> Curve:
    """Column → its values, one for each row of NAME.csv."""
    rows = read_rows(name)
    return {column: np.array([float(row[column]) for row in rows]) for column in rows[0]}


def draw_band(axes: Axes, at: NDArray[np.float64], curve: Curve, column: str, colour: str, label: str) -> None:
    """One line with its 95 % interval as a band."""
    axes.fill_between(at, curve[f"{column}_low"], curve[f"{column}_high"], color=colour, alpha=0.18, linewidth=0)
    axes.plot(at, curve[column], color=colour, label=label)


def draw_big2() -> Figure:
    """Points against three copies of a reference: the first half hour of one run, and another to its end."""
    figure, axes = new_figure(3.1)
    start, whole = read_curve("big2_paper"), read_curve("big2_paper_whole")
    played = json.loads((HERE / "big2_paper_evaluation.json").read_text())["references"]
    for colour, name in zip(COLOURS, ("random", "greedy"), strict=False):
        draw_band(axes, start["decisions"], start, f"strength/{name}", colour, f"against three {name}")
        draw_band(axes, whole["decisions"], whole, f"strength/{name}", colour, "")
        axes.plot(BIG2_DECISIONS, played[name]["mean"], "o", color=colour, markersize=4)
    axes.axhline(0, color=GREY, linewidth=1, linestyle=":")
    axes.axhline(BIG2_REPORTED, color=COLOURS[0], linewidth=1, linestyle=":")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlabel("decisions")
    axes.set_ylabel("points a game")
    axes.legend(loc="lower right")
    return figure


def draw_thirty_one() -> Figure:
    """Matches won by batch at four tables, one line for each seed."""
    figure, axes = new_figure(4.0)
    rows = read_rows("thirty_one_paper")
    seeds = list(dict.fromkeys(row["seed"] for row in rows))
    for colour, (name, label) in zip(COLOURS, TABLES.items(), strict=False):
        for seed in seeds:
            curve = [row for row in rows if row["seed"] == seed]
            batches, won = ([float(row[column]) for row in curve] for column in ("batches", name))
            axes.plot(batches, won, color=colour, linewidth=1, label=label if seed == seeds[0] else None)
    axes.axhline(1 / 3, color=GREY, linewidth=1, linestyle=":")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylim(0, 1)
    axes.set_xlabel("batches of 1,000 rounds")
    axes.set_ylabel("matches won")
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.18), fontsize=8)
    return figure


def draw_squares() -> Figure:
    """Mean score by games of both versions, one line for each seed, with the plateaus of the paper."""
    figure, axes = new_figure(3.1)
    for height in (40, 60, 80):
        axes.axhline(height, color=GREY, linewidth=1, linestyle=":")
    rows = read_rows("poker_squares_online")
    for colour, (name, label) in zip(COLOURS, VERSIONS.items(), strict=False):
        for seed in sorted({row["seed"] for row in rows}):
            curve = [row for row in rows if row["experiment"] == name and row["seed"] == seed]
            games, points = ([float(row[column]) for row in curve] for column in ("games", "points"))
            axes.plot(games, points, color=colour, linewidth=1, label=label if seed == rows[0]["seed"] else None)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_ylim(0, 90)
    axes.set_xlabel("games")
    axes.set_ylabel("points a game")
    axes.legend(loc="lower right")
    return figure


def draw_open_face() -> Figure:
    """Running total of points in training by games, one line for each seed: the paper's figure 4."""
    figure, axes = new_figure(3.1)
    rows = read_rows("open_face_total_points")
    runs = dict.fromkeys(row["name"] for row in rows)
    for colour, (prefix, label) in zip(COLOURS, OPEN_FACE.items(), strict=False):
        for number, name in enumerate(run for run in runs if run.startswith(prefix)):
            curve = [row for row in rows if row["name"] == name]
            games, points = ([float(row[column]) for row in curve] for column in ("games", "total_points"))
            axes.plot(games, points, color=colour, linewidth=1, label=None if number else label)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(EngFormatter(sep=""))
    axes.axhline(0, color=GREY, linewidth=1, linestyle=":")
    axes.set_xlabel("games")
    axes.set_ylabel("points won in all")
    axes.legend(loc="upper left")
    return figure


def write(name: str, figure: Figure, label: str) -> None:
    """Write NAME.svg; `label` is its text for screen readers."""
    svg = inline_svg(figure, label).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    (HERE / f"{name}.svg").write_text(svg + "\n")


if __name__ == "__main__":
    with report_style():
        write("big2", draw_big2(), "Big 2: points against three random and three greedy players by decisions")
        write("thirty_one", draw_thirty_one(), "Thirty-One: matches won by batch at four tables of three")
        write("poker_squares", draw_squares(), "Poker Squares: points a game by games, and the plateaus 40, 60, 80")
        write("open_face", draw_open_face(), "Open-face: total points by games of training, three recipes")
