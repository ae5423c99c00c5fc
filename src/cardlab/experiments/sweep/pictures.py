"""Pictures of a study: how the best value came about, which dimensions decided it, and where good values lie."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray
from optuna.distributions import CategoricalDistribution
from optuna.importance import get_param_importances
from optuna.study import Study
from optuna.trial import TrialState

from cardlab.experiments.report.drawing import COLOURS, GREY, MARKERS, new_figure
from cardlab.experiments.sweep.dimensions import Dimension
from cardlab.experiments.sweep.space import Values

FEWEST_TRIALS = 4
"""Complete ones, below which importances mean nothing."""
_MOST_SLICES = 3  # side by side
_COLOUR_MAP = "viridis_r"  # dark is strong; also in grey


def draw_history(values: Sequence[float], label: str) -> Figure:
    """The value of each complete trial, and the best so far as a line."""
    figure, axes = new_figure(3.1)
    numbers = np.arange(1, len(values) + 1)
    axes.scatter(numbers, values, color=COLOURS[0], marker=MARKERS[0], s=18, label="trial")
    axes.step(numbers, np.maximum.accumulate(values), where="post", color=COLOURS[1], label="best so far")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("trials")
    axes.set_ylabel(label)
    axes.legend(loc="best")
    return figure


def draw_importances(shares: Mapping[str, float]) -> Figure:
    """A bar for each dimension, the most important at the top."""
    figure, axes = new_figure(0.9 + 0.35 * len(shares))
    bars = axes.barh(list(shares), np.array(list(shares.values())), color=COLOURS[0], height=0.6)
    axes.invert_yaxis()
    axes.bar_label(bars, fmt="{:.0%}", padding=3)
    axes.set_xlim(0, max([*shares.values(), 0.01]) * 1.15)
    axes.set_xlabel("share of what decides the value")
    axes.xaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_axisbelow(True)
    axes.grid(visible=False, axis="y")
    return figure


def draw_slices(
    dimensions: Sequence[Dimension], points: Sequence[Values], values: Sequence[float], label: str
) -> Figure:
    """The value of each trial over each dimension, one small picture each."""
    columns = min(_MOST_SLICES, len(dimensions))
    rows = -(-len(dimensions) // columns)
    figure, first = new_figure(0.3 + 2.1 * rows)
    first.remove()
    for place, dimension in enumerate(dimensions):
        axes = figure.add_subplot(rows, columns, place + 1)
        held = [number for number, point in enumerate(points) if dimension.key in point]
        places = [_position(dimension, points[number][dimension.key]) for number in held]
        axes.scatter(places, [values[number] for number in held], color=COLOURS[0], marker=MARKERS[0], s=12)
        _scale(axes, dimension)
        axes.set_xlabel(dimension.key, fontsize=8)
        axes.tick_params(labelsize=7)
        if place % columns == 0:
            axes.set_ylabel(label, fontsize=8)
    return figure


def draw_parallel(
    dimensions: Sequence[Dimension], points: Sequence[Values], values: Sequence[float], label: str
) -> Figure:
    """A line for each trial across all dimensions, the strongest on top; broken where a dimension was not searched."""
    figure, axes = new_figure(3.4)
    order = np.argsort(values, kind="stable")
    lines = [_line(dimensions, points[number]) for number in order]
    strengths = np.asarray(values, dtype=np.float64)[order]
    low, high = float(strengths.min()), float(strengths.max())
    colours = Normalize(low, high if high > low else low + 1.0)
    bundle = LineCollection(lines, cmap=_COLOUR_MAP, norm=colours, linewidths=1.1, array=strengths)
    axes.add_collection(bundle)
    axes.set_xlim(-0.15, max(len(dimensions) - 1, 1) + 0.15)
    axes.set_ylim(-0.08, 1.08)
    axes.set_yticks([])
    axes.set_xticks(range(len(dimensions)), [dimension.key for dimension in dimensions], rotation=20, ha="right")
    axes.tick_params(labelsize=7)
    for place, dimension in enumerate(dimensions):
        axes.axvline(place, color=GREY, linewidth=0.8)
        low_text, high_text = (_text(end) for end in (dimension.ends()[0], dimension.ends()[-1]))
        axes.text(place, -0.03, low_text, ha="center", va="top", fontsize=6)
        axes.text(place, 1.03, high_text, ha="center", va="bottom", fontsize=6)
    figure.colorbar(bundle, ax=axes, label=label)
    return figure


def draw_front(values: Sequence[float], costs: Sequence[float], label: str) -> Figure:
    """Strength over cost, and the front of trials that no other beats in both."""
    figure, axes = new_figure(3.1)
    axes.scatter(costs, values, color=COLOURS[0], marker=MARKERS[0], s=18, label="trial")
    front: list[tuple[float, float]] = []
    for cost, value in sorted(zip(costs, values, strict=True), key=lambda pair: (pair[0], -pair[1])):
        if not front or value > front[-1][1]:
            front.append((cost, value))
    axes.step(*zip(*front, strict=True), where="post", color=COLOURS[1], label="front")
    axes.set_xlabel("seconds of CPU")
    axes.set_ylabel(label)
    axes.legend(loc="best")
    return figure


def importances(study: Study) -> dict[str, float]:
    """Dimension → share of what decides whether a trial is a strong one, by PED-ANOVA (Watanabe et al., IJCAI 2023).

    Empty below FEWEST_TRIALS, and when all trials are as good as each other.
    """
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    if len(complete) < FEWEST_TRIALS or len({trial.values[0] for trial in complete}) < 2:
        return {}
    if len(study.directions) == 1:
        return get_param_importances(study)
    return get_param_importances(study, target=lambda trial: -trial.values[0])  # PED-ANOVA asks what makes it low


def _line(dimensions: Sequence[Dimension], point: Values) -> NDArray[np.float64]:
    """[D, 2] where the trial crosses each dimension, from 0 at its low end to 1; NaN where it has no value."""
    heights = [
        _height(dimension, point[dimension.key]) if dimension.key in point else np.nan for dimension in dimensions
    ]
    if len(heights) == 1:  # a single dimension: a level line, which can be seen
        heights *= 2
    return np.column_stack([np.arange(len(heights), dtype=np.float64), np.array(heights)])


def _height(dimension: Dimension, value: Any) -> float:
    domain = dimension.distribution
    if isinstance(domain, CategoricalDistribution):
        return _position(dimension, value) / max(1, len(dimension.choices) - 1)
    low, high, place = float(domain.low), float(domain.high), float(value)
    if domain.log:
        low, high, place = np.log(low), np.log(high), np.log(place)
    return (place - low) / (high - low) if high > low else 0.5


def _position(dimension: Dimension, value: Any) -> float:
    """On the axis of a slice: the value, or the place of a choice."""
    if isinstance(dimension.distribution, CategoricalDistribution):
        return float(dimension.choices.index(value)) if value in dimension.choices else np.nan
    return float(value)


def _scale(axes: Axes, dimension: Dimension) -> None:
    if isinstance(dimension.distribution, CategoricalDistribution):
        axes.set_xticks(range(len(dimension.choices)), [_text(choice) for choice in dimension.choices])
    elif dimension.distribution.log:
        axes.set_xscale("log")


def _text(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else json.dumps(value, default=str).replace('"', "")
