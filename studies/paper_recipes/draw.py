"""Draws big2.svg, thirty_one.svg, poker_squares.svg and open_face.svg from the learning curves in this folder.

Usage: draw.py. big2_paper.csv is the curve.csv that `cardlab train` wrote. thirty_one_paper.csv and
poker_squares_online.csv have columns of several of them. big2_paper_snapshots.csv is the output of
studies/big2_checkpoints/play_checkpoints.py, open_face_total_points.csv that of total_points.py. The README has the
commands.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter
from numpy.typing import NDArray

from cardlab.experiments.report.drawing import (
    COLOURS,
    GREY,
    inline_svg,
    legend_above,
    new_figure,
    new_grid,
    report_style,
)

HERE = Path(__file__).parent
VERSIONS = {"paper_bootstrap": "first version: bootstrapped", "paper": "second version: final scores"}
TABLES = {
    "greedy_stock_only and random": "greedy as coded and random: the table of the training",
    "random": "two random",
    "greedy_stock_only": "two greedy as coded",
    "greedy": "two greedy as described",
}
OPEN_FACE = {"naive": "naive", "greedy_start": "greedy start", "averaged": "averaged successors"}
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


def draw_line(axes: Axes, points: Sequence[NDArray[np.float64]], colour: str, label: str) -> None:
    """One line with its 95 % interval as a band; `points` are decisions, means, and both ends of the intervals."""
    decisions, means, low, high = points
    axes.fill_between(decisions / 1e6, low, high, color=colour, alpha=0.18, linewidth=0)
    axes.plot(decisions / 1e6, means, color=colour, label=label)


def draw_big2() -> Figure:
    """Points of one seed through its training: against three copies of a scripted agent, and of its own snapshots."""
    figure, (scripted, selves) = new_grid([3.4, 2.8])
    scripted.axhline(BIG2_REPORTED, color=COLOURS[0], linewidth=1, linestyle=":")
    selves.axhline(0, color=GREY, linewidth=1, linestyle=":")
    curve, rows = read_curve("big2_paper"), read_rows("big2_paper_snapshots")
    for colour, name in zip(COLOURS, ("random", "greedy"), strict=False):
        ends = [curve[f"interval/score/{name}_{end}"] for end in ("low", "high")]
        draw_line(scripted, (curve["decisions"], curve[f"score/{name}"], *ends), colour, f"three {name}")
    for colour, against in zip(COLOURS[2:] + COLOURS[:2], dict.fromkeys(row["against"] for row in rows), strict=False):
        own = [row for row in rows if row["against"] == against]
        points = [np.array([float(row[key]) for row in own]) for key in ("decisions", "mean", "low", "high")]
        axes = selves if against.startswith("itself") else scripted
        draw_line(axes, points, colour, against if axes is selves else f"three {against}")
    for axes in (scripted, selves):
        axes.set_xlabel("million decisions")
        axes.set_ylabel("points a game")
        axes.set_xlim(0, curve["decisions"][-1] / 1e6)
        legend_above(axes)
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
        write("big2", draw_big2(), "Big 2: points by decisions against scripted agents and earlier snapshots")
        write("thirty_one", draw_thirty_one(), "Thirty-One: matches won by batch at four tables of three")
        write("poker_squares", draw_squares(), "Poker Squares: points a game by games, and the plateaus 40, 60, 80")
        write("open_face", draw_open_face(), "Open-face: total points by games of training, three recipes")
