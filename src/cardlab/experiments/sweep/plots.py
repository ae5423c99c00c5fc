"""Plots of a study by Optuna, and one picture with the best so far and the most important parameters."""

import warnings
from collections.abc import Callable, Generator, Mapping
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState
from optuna.visualization import matplotlib as plots

from cardlab.experiments.sweep.study import can_rank, first_value

NOT_IN_DIGEST = "draws pictures that only MLflow keeps"

OVERVIEW = "overview"
MAX_RANKED = 4  # parameters in the overview


def study_plots(study: Study, title: str = "", importances: Mapping[str, float] = {}) -> Generator[tuple[str, Figure]]:
    """Name and figure of each plot; a figure is closed before the next one is drawn.

    The overview shows `title` and `importances`. It is as low as what MLflow shows of a description before *Show more*
    is clicked.
    """
    name = (study.metric_names or ["value"])[0]
    target: Callable[[FrozenTrial], float] | None = None if len(study.directions) == 1 else first_value
    draw: dict[str, Callable[[], Any]] = {
        OVERVIEW: lambda: _overview(study, name, title, importances),
        "history": lambda: plots.plot_optimization_history(study, target=target, target_name=name),
        "parallel_coordinates": lambda: plots.plot_parallel_coordinate(study, target=target, target_name=name),
        "slices": lambda: plots.plot_slice(study, target=target, target_name=name),
    }
    if can_rank(study):
        draw["importances"] = lambda: plots.plot_param_importances(study)
    if len(study.directions) > 1:
        draw["pareto_front"] = lambda: plots.plot_pareto_front(study)
    for plot, drawn in draw.items():
        with matplotlib.rc_context({"savefig.bbox": "tight", "svg.fonttype": "none"}):  # undoes Optuna's style
            with warnings.catch_warnings(action="ignore"):  # about axes of a single trial
                figure = np.ravel(drawn())[0].figure
            yield plot, figure
        plt.close(figure)


def _overview(study: Study, name: str, title: str, importances: Mapping[str, float]) -> list[Axes]:
    """Two axes in a row: the value of each trial with the best so far, and the most important parameters."""
    trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    values = [first_value(trial) for trial in trials]
    with matplotlib.rc_context({"font.size": 8}):
        _, (left, right) = plt.subplots(1, 2, figsize=(7.4, 0.9), width_ratios=(3, 2), layout="constrained")
        left.plot([trial.number for trial in trials], values, ".", markersize=4)
        left.step([trial.number for trial in trials], np.maximum.accumulate(values), where="post", linewidth=1)
        left.set_ylabel(name)
        left.set_title(title, fontsize=8, loc="left")
        shown = [*importances.items()][:MAX_RANKED][::-1]
        right.barh([key for key, _ in shown], [share for _, share in shown])
        right.set_title("importance", fontsize=8, loc="left")
        right.set_visible(bool(shown))
    return [left, right]
