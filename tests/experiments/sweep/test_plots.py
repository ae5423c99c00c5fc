"""Pictures show what the study holds."""

import numpy as np
import optuna
from optuna.distributions import FloatDistribution

from cardlab.experiments.sweep.plots import study_plots
from cardlab.experiments.sweep.study import MIN_TRIALS

RANGE = FloatDistribution(0.0, 1.0)


def study_of(number: int, *, equal: bool = False, objectives: int = 1) -> optuna.Study:
    """Trials whose value depends on gamma alone."""
    rng = np.random.default_rng(0)
    study = optuna.create_study(directions=["maximize", "minimize"][:objectives])
    study.set_metric_names(["points", "cpu_seconds"][:objectives])
    for _ in range(number):
        params = {"agent.gamma": rng.random(), "agent.epsilon": rng.random()}
        values = [0.0 if equal else params["agent.gamma"], 1.0][:objectives]
        ranges = dict.fromkeys(params, RANGE)
        study.add_trial(optuna.create_trial(params=params, distributions=ranges, values=values))
    return study


def test_each_picture_names_what_was_measured() -> None:
    for name, figure in study_plots(study_of(20, objectives=2)):
        texts = [axes.get_ylabel() for axes in figure.axes] + [axes.get_xlabel() for axes in figure.axes]
        assert name == "importances" or "points" in texts, name


def test_importances_need_trials_that_differ() -> None:
    usual = {"overview", "history", "parallel_coordinates", "slices"}
    assert {name for name, _ in study_plots(study_of(1))} == usual
    assert {name for name, _ in study_plots(study_of(MIN_TRIALS - 1))} == usual
    assert {name for name, _ in study_plots(study_of(20, equal=True))} == usual
    assert {name for name, _ in study_plots(study_of(20))} == usual | {"importances"}
    assert {name for name, _ in study_plots(study_of(20, objectives=2))} == usual | {"importances", "pareto_front"}
