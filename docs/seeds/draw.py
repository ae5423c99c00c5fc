"""Draws the pictures of docs/seeds.md from the learning curves beside this file.

Usage: draw.py. curves/NAME.csv is the curve.csv that `cardlab train` left, and big2_seed_evaluation.json what
`cardlab evaluate` wrote; the commands stand in docs/seeds.md.
"""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter
from numpy.typing import NDArray

from cardlab.evaluation.intervals import estimate
from cardlab.experiments.report.drawing import COLOURS, GREY, house_style, inline_svg, new_figure

HERE = Path(__file__).parent
POKER_SQUARES_DECISIONS = 24  # of one game: the last card has one cell left
BIG2_DECISIONS = 131e6  # of the whole recipe
BIG2_REPORTED = 13.4  # points against random, by its source
POINTS_PER_VALUE = 100.0  # agent.reward_scale of the two curves of the blow-up

Curve = dict[str, NDArray[np.float64]]


def read_rows(name: str) -> list[dict[str, str]]:
    """The lines of curves/NAME.csv."""
    with (HERE / "curves" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def read_curve(name: str) -> Curve:
    """Column → its values, one for each point of curves/NAME.csv."""
    rows = read_rows(name)
    return {column: np.array([float(row[column]) for row in rows]) for column in rows[0]}


def played_games(curve: Curve) -> NDArray[np.float64]:
    """Games of the learner until each point."""
    return np.cumsum(np.diff(curve["decisions"], prepend=0) / curve["game_decisions"])


def draw_band(axes: Axes, at: NDArray[np.float64], curve: Curve, column: str, colour: str, label: str) -> None:
    """One line with the band of its 95 % interval."""
    axes.fill_between(at, curve[f"{column}_low"], curve[f"{column}_high"], color=colour, alpha=0.18, linewidth=0)
    axes.plot(at, curve[column], color=colour, label=label)


def draw_big2() -> Figure:
    """Points against three copies of a reference: the first half hour of one run, and another to its end."""
    figure, axes = new_figure(3.1)
    start, whole = read_curve("big2_seed"), read_curve("big2_seed_whole")
    played = json.loads((HERE / "curves" / "big2_seed_evaluation.json").read_text())["references"]
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
    """Matches won after each batch."""
    figure, axes = new_figure(4.0)
    curve = read_curve("thirty_one_seed")
    batches = played_games(curve) / 1000
    series = {
        "greedy_stock_only and random": "table of greedy as coded and random",
        "random": "two random",
        "greedy_stock_only": "two greedy as coded",
        "greedy": "two greedy as described",
    }
    for colour, (name, label) in zip(COLOURS, series.items(), strict=False):
        draw_band(axes, batches, curve, f"win_rate/{name}", colour, label)
    axes.axhline(1 / 3, color=GREY, linewidth=1, linestyle=":")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_ylim(0, 1)
    axes.set_xlabel("batches of 1,000 rounds")
    axes.set_ylabel("matches won")
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.18), fontsize=8)
    return figure


def draw_plateaus() -> Figure:
    """Poker Squares: mean score by games, with the plateaus that the seed reports."""
    figure, axes = new_figure(3.1)
    for height in (40, 60, 80):
        axes.axhline(height, color=GREY, linewidth=1, linestyle=":")
    series = {
        "poker_squares_seed": "seed 7",
        "poker_squares_seed_8": "seed 8",
        "poker_squares_td0": "seed 7, bootstrapping with small steps",
    }
    for colour, (name, label) in zip(COLOURS, series.items(), strict=False):
        curve = read_curve(name)
        draw_band(axes, curve["decisions"] / POKER_SQUARES_DECISIONS, curve, "strength/self", colour, label)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_ylim(0, 90)
    axes.set_xlabel("games")
    axes.set_ylabel("points a game")
    axes.legend(loc="lower right")
    return figure


def draw_blow_up() -> Figure:
    """Poker Squares: what the network believes with either target at the same rate, beside what it scores."""
    figure, axes = new_figure(3.1)
    series = {"poker_squares_seed_bootstrap": "bootstrapping", "poker_squares_sgd": "final scores as targets"}
    for index, (name, label) in enumerate(series.items()):
        curve = read_curve(name)
        games = curve["decisions"] / POKER_SQUARES_DECISIONS
        points = curve["value"] * POINTS_PER_VALUE
        axes.plot(games, points, color=COLOURS[index], label=f"{label}: believed")
        axes.plot(games, curve["strength/self"], color=COLOURS[index], linestyle="--", label=f"{label}: scored")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlabel("games")
    axes.set_ylabel("points")
    axes.legend(loc="center right")
    return figure


def draw_open_face() -> Figure:
    """Open-face: cumulative score of the games that were learned from, exploration included."""
    figure, axes = new_figure(3.4)
    series = {
        "open_face_seed": "naive",
        "open_face_averaged_1": "averaged, M = 1",
        "open_face_averaged_4": "averaged, M = 4",
        "open_face_averaged_16": "averaged, M = 16",
        "open_face_averaged_16_max": "M = 16, maximum of the mean",
        "open_face_all": "naive, trained on all outputs",
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


def draw_averaged() -> Figure:
    """Open-face: points against random after the same seconds of CPU, by target: each seed, and their mean."""
    rows = read_rows("open_face_equal")
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


PICTURES: dict[str, tuple[Callable[[], Figure], str]] = {
    "big2": (draw_big2, "Big 2: points against three random and three greedy players by decisions"),
    "thirty_one": (draw_thirty_one, "Thirty-One: matches won by batch at four tables of three"),
    "poker_squares": (draw_plateaus, "Poker Squares: points a game by games, with the plateaus 40, 60 and 80"),
    "poker_squares_blow_up": (
        draw_blow_up,
        "Poker Squares: what either target believes and scores, by games",
    ),
    "open_face_averaged": (draw_averaged, "Open-face: points against random by target, at equal seconds of CPU"),
    "open_face": (draw_open_face, "Open-face: cumulative score against random by games"),
}
"""Name of the file → who draws it, and what it is called to those who cannot see it."""


def main() -> None:
    """Write all of them."""
    with house_style():
        for name, (draw, label) in PICTURES.items():
            svg = inline_svg(draw(), label).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
            (HERE / f"{name}.svg").write_text(svg + "\n")


if __name__ == "__main__":
    main()
