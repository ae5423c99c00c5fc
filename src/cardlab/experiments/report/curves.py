"""Pictures of the training and the games of a policy: learning curves, scores of snapshots, lengths and outcomes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from cardlab.agents.specs import metric_name
from cardlab.evaluation.intervals import SELF
from cardlab.evaluation.seed_statistics import Band
from cardlab.experiments.report.drawing import (
    COLOURS,
    GREY,
    HEIGHT,
    MARKERS,
    Drawn,
    draw_mean,
    legend_above,
    new_figure,
    new_grid,
)
from cardlab.experiments.report.read_results import Column, Result

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


def draw_learning_curves(results: Sequence[Result]) -> Drawn | None:
    """The scores of a game's experiments, best first, against the best's strongest reference; a band for each.

    None when none of them was measured.
    """
    best = results[0]
    name = f"score/{metric_name(best.main_score[0])}"
    columns = ("decisions", name, f"interval/{name}_low", f"interval/{name}_high")
    drawn = [(index, result) for index, result in enumerate(results) if set(columns) <= set(result.curve)]
    if not drawn:
        return None
    figure, axes = new_figure(HEIGHT)
    for index, result in drawn:
        band = Band(*(result.curve[column] for column in columns), seeds=len(result.seeds))
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index % len(MARKERS)]
        draw_mean(axes, band, _lines_of_seeds(result, name), colour, result.name, marker)
    reference, level = best.strongest_reference
    axes.axhline(level, color=GREY, linewidth=1, linestyle=":", label=reference)
    _label_axes(axes, "points per game" if best.alone else f"points per game against {reference}")
    legend_above(axes)
    deals = " or ".join(f"{n:,}" for n in sorted({result.config["trainer"]["evaluation_deals"] for _, result in drawn}))
    measure = "Points per game" if best.alone else f"Points per game against {reference}"
    seeds = " or ".join(sorted({str(len(result.seeds)) for _, result in drawn}))
    about = f"{measure} during training: mean over {seeds} seeds with 95 % band, faint lines: each seed"
    return figure, f"{about}; {deals} deals per point."


def _lines_of_seeds(result: Result, name: str) -> Iterator[tuple[Column, Column]]:
    """Decisions and scores of each seed, if there are several."""
    curves = result.seed_curves
    if curves is not None and name in curves and len(result.seeds) > 1:
        for seed in result.seeds:
            rows = curves["seed"] == seed
            yield curves["decisions"][rows], curves[name][rows]


def draw_snapshot_scores(result: Result) -> Drawn | None:
    """A line with intervals per reference, and one for the previous snapshot; None without snapshots."""
    matches = result.snapshot_matches
    if matches is None or not matches["decisions"]:
        return None
    figure, axes = new_figure(HEIGHT)
    decisions: Sequence[int] = matches["decisions"]
    for index, (name, rows) in enumerate(matches["references"].items()):
        if not result.alone or name == SELF:
            _line(axes, decisions, rows, index, "" if result.alone else f"against {name}")
    before = [figures for later, earlier, *figures in matches["margins"] if earlier == later - 1]
    if before and not result.alone:
        rows = [{"mean": mean, "low": low, "high": high} for mean, low, high in before]
        _line(axes, decisions[1:], rows, len(matches["references"]), "over the previous", dashes=(3, 2))
    _label_axes(axes, "points per game")
    deals = f"{matches['deals']:,} deals; bars are 95 % intervals."
    if result.alone:
        return figure, f"Points per game of the snapshots on the same {deals}"
    axes.axhline(0, color=GREY, linewidth=1, linestyle=":")
    legend_above(axes)
    return figure, f"Points per game of the snapshots against each reference and the previous snapshot, {deals}"


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
