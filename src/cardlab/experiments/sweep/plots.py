"""Plots of a study, drawn by Optuna with matplotlib."""

import warnings
from collections.abc import Callable, Generator
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState
from optuna.visualization import matplotlib as plots

NOT_IN_DIGEST = "draws figures that only MLflow keeps"

MIN_TRIALS = 4
"""Complete trials that importances need."""


def study_plots(study: Study) -> Generator[tuple[str, Figure]]:
    """Name and figure of each plot; a figure is closed before the next one is drawn."""
    name = (study.metric_names or ["value"])[0]
    target: Callable[[FrozenTrial], float] | None = None if len(study.directions) == 1 else _first_value
    draw: dict[str, Callable[[], Any]] = {
        "history": lambda: plots.plot_optimization_history(study, target=target, target_name=name),
        "parallel_coordinates": lambda: plots.plot_parallel_coordinate(study, target=target, target_name=name),
        "slices": lambda: plots.plot_slice(study, target=target, target_name=name),
    }
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    if len(complete) >= MIN_TRIALS and len({_first_value(trial) for trial in complete}) > 1:
        draw["importances"] = lambda: plots.plot_param_importances(study)
    if len(study.directions) > 1:
        draw["pareto_front"] = lambda: plots.plot_pareto_front(study)
    for plot, drawn in draw.items():
        with matplotlib.rc_context({"savefig.bbox": "tight", "svg.fonttype": "none"}):  # undoes Optuna's style
            with warnings.catch_warnings(action="ignore"):  # about axes of a single trial
                figure = np.ravel(drawn())[0].figure
            yield plot, figure
        plt.close(figure)


def _first_value(trial: FrozenTrial) -> float:
    return trial.values[0]
