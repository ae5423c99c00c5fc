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


def can_rank(study: Study) -> bool:
    """Whether there are enough different trials for the importance of each parameter."""
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return len(complete) >= MIN_TRIALS and len({first_value(trial) for trial in complete}) > 1


def study_plots(study: Study) -> Generator[tuple[str, Figure]]:
    """Name and figure of each plot; a figure is closed before the next one is drawn."""
    name = (study.metric_names or ["value"])[0]
    target: Callable[[FrozenTrial], float] | None = None if len(study.directions) == 1 else first_value
    draw: dict[str, Callable[[], Any]] = {
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


def first_value(trial: FrozenTrial) -> float:
    """The score of a complete trial."""
    return trial.values[0]
