"""Pictures of a study: how the best value came about, and which dimensions decided it."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from optuna.importance import get_param_importances
from optuna.study import Study
from optuna.trial import TrialState

from cardlab.reporting.drawing import COLOURS, MARKERS, new_figure

FEWEST_TRIALS = 4
"""Complete ones, below which importances mean nothing."""


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


def importances(study: Study) -> dict[str, float]:
    """Dimension → share of what decides whether a trial is a good one, by PED-ANOVA (Watanabe et al., IJCAI 2023).

    Empty below FEWEST_TRIALS, and when all trials are as good as each other.
    """
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    if len(complete) < FEWEST_TRIALS or len({trial.value for trial in complete}) < 2:
        return {}
    return get_param_importances(study)
