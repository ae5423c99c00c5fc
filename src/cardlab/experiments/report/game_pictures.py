"""How long the policy's games are, what happens in them, and what it expected of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cardlab.experiments.report.drawing import COLOURS, GREY, HEIGHT, Drawn, new_figure, new_grid
from cardlab.experiments.report.read_results import Result

_ROW = 0.27  # inches for a pair of bars
_HEAD = 0.75  # for a title and an axis
_LENGTH = 1.5
_MAX_BARS = 40


def draw_game_lengths(result: Result) -> Drawn | None:
    """Lengths, where they vary, and two bars for each outcome; None without statistics."""
    statistics = result.game_statistics
    if statistics is None:
        return None
    length, against = statistics["length"], statistics["against"]
    outcomes = [_nonzero_outcomes(outcome) for outcome in statistics["outcomes"]]
    counts: Mapping[str, int] = length["counts"]
    heights = [_HEAD + _ROW * len(outcome["labels"]) for outcome in outcomes]
    if len(counts) > 1:
        heights.insert(0, _LENGTH)
    if not heights:
        return None
    figure, grid = new_grid(heights)
    if len(counts) > 1:
        _draw_lengths(grid[0], counts)
    for axes, outcome in zip(grid[len(grid) - len(outcomes) :], outcomes, strict=True):
        _draw_outcome(axes, outcome, (result.name, str(against)))
    if outcomes:
        grid[-1].legend(loc="best", fontsize=8)
    return figure, (
        f"{statistics['games']:,} games, {length['mean']:.1f} decisions on average. Outcomes per game and player, "
        f"of the policy and of {against}."
    )


def _nonzero_outcomes(outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Without what never happened."""
    labels: Sequence[str] = outcome["labels"]
    rows = [row for row in zip(labels, outcome["policy"], outcome["others"], strict=True) if row[1] or row[2]]
    return {
        "title": outcome["title"],
        "labels": [row[0] for row in rows],
        "policy": [row[1] for row in rows],
        "others": [row[2] for row in rows],
    }


def _draw_lengths(axes: Axes, counts: Mapping[str, int]) -> None:
    """How many games have how many decisions."""
    lengths = np.repeat([int(length) for length in counts], list(counts.values()))
    span = int(lengths.max() - lengths.min()) + 1
    width = -(-span // _MAX_BARS)  # whole numbers of decisions in each bar
    edges = np.arange(lengths.min(), lengths.max() + width + 1, width) - 0.5
    axes.hist(lengths, edges, weights=np.full(len(lengths), 1 / len(lengths)), color=COLOURS[0])
    axes.set_title("decisions in a game", fontsize=10, loc="left")
    axes.set_ylabel("share of games", fontsize=9)


def _draw_outcome(axes: Axes, outcome: Mapping[str, Any], names: tuple[str, str]) -> None:
    places = np.arange(len(outcome["labels"]))
    for index, who in enumerate(("policy", "others")):
        axes.barh(places + 0.36 * (index - 0.5), outcome[who], height=0.36, color=COLOURS[index], label=names[index])
    axes.set_yticks(places, outcome["labels"], fontsize=9)
    axes.set_ylim(len(places) - 0.4, -0.6)
    axes.set_title(outcome["title"], fontsize=10, loc="left")
    axes.set_axisbelow(True)
    axes.grid(visible=False, axis="y")


def draw_calibration(result: Result) -> Drawn | None:
    """A point with its interval for each bin, and the diagonal; None without predictions."""
    table, statistics = result.calibration, result.game_statistics
    if not table or not len(table["predicted"]) or statistics is None:
        return None
    figure, axes = new_figure(HEIGHT)
    predicted, paid = table["predicted"], table["paid"]
    ends = [min(predicted.min(), paid.min()), max(predicted.max(), paid.max())]
    axes.plot(ends, ends, color=GREY, linewidth=1, linestyle=":", label="_")
    axes.vlines(predicted, table["low"], table["high"], color=COLOURS[0], linewidth=4, alpha=0.35)
    axes.plot(predicted, paid, color=COLOURS[0], marker="o", linestyle="none", label="_")
    heights = np.concatenate((paid, ends))
    room = 0.08 * float(np.ptp(heights)) or 0.5
    axes.set_ylim(float(heights.min()) - room, float(heights.max()) + room)
    axes.set_xlabel("predicted payoff")
    axes.set_ylabel("real payoff")
    summary = statistics["calibration"]
    return figure, (
        f"Predicted and real payoff at {summary['decisions']:,} decisions of {summary['games']:,} training games, in "
        f"bins of equal size; bars are 95 % intervals. Mean error {summary['bias']:+.2f}, explained variance "
        f"{100 * summary['explained']:.0f} %."
    )
