"""Pictures of a study, as Optuna draws them with matplotlib."""

import warnings
from collections.abc import Callable, Generator
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState
from optuna.visualization import matplotlib as drawings

NOT_IN_DIGEST = "draws figures that only MLflow keeps"

FEWEST_TRIALS = 4
"""Complete ones, below which importances mean nothing."""


def draw_study(study: Study) -> Generator[tuple[str, Figure]]:
    """Name and figure of each picture; a figure is closed when the next one is asked for."""
    name = (study.metric_names or ["value"])[0]
    target: Callable[[FrozenTrial], float] | None = None if len(study.directions) == 1 else _strength
    draw: dict[str, Callable[[], Any]] = {
        "history": lambda: drawings.plot_optimization_history(study, target=target, target_name=name),
        "parallel_coordinates": lambda: drawings.plot_parallel_coordinate(study, target=target, target_name=name),
        "slices": lambda: drawings.plot_slice(study, target=target, target_name=name),
    }
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    if len(complete) >= FEWEST_TRIALS and len({_strength(trial) for trial in complete}) > 1:
        draw["importances"] = lambda: drawings.plot_param_importances(study)
    if len(study.directions) > 1:
        draw["front"] = lambda: drawings.plot_pareto_front(study)
    for picture, drawn in draw.items():
        with matplotlib.rc_context({"savefig.bbox": "tight", "svg.fonttype": "none"}):  # Optuna sets a style for good
            with warnings.catch_warnings(action="ignore"):  # about axes of a single trial
                figure = np.ravel(drawn())[0].figure
            yield picture, figure
        plt.close(figure)


def _strength(trial: FrozenTrial) -> float:
    return trial.values[0]
