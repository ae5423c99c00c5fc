"""Pictures show what the study holds."""

import numpy as np
import optuna
from optuna.distributions import FloatDistribution

from cardlab.experiments.report.drawing import report_style
from cardlab.experiments.sweep.pictures import FEWEST_TRIALS, draw_history, draw_importances, importances

RANGE = FloatDistribution(0.0, 1.0)


def study_of(number: int, weight: float = 1.0) -> optuna.Study:
    """Trials whose value depends on gamma alone."""
    rng = np.random.default_rng(0)
    study = optuna.create_study(direction="maximize")
    for _ in range(number):
        params = {"agent.gamma": rng.random(), "agent.epsilon": rng.random()}
        value = weight * params["agent.gamma"]
        ranges = dict.fromkeys(params, RANGE)
        study.add_trial(optuna.create_trial(params=params, distributions=ranges, value=value))
    return study


def test_what_decides_is_the_longest_bar() -> None:
    shares = importances(study_of(40))
    assert next(iter(shares)) == "agent.gamma"
    assert shares["agent.gamma"] > 0.8
    with report_style():
        (axes,) = draw_importances(shares).axes
    assert [bar.get_width() for bar in axes.patches] == list(shares.values())


def test_nothing_is_said_about_too_few_or_equal_trials() -> None:
    assert importances(study_of(FEWEST_TRIALS - 1)) == {}
    assert importances(study_of(20, weight=0.0)) == {}


def test_the_best_so_far_never_falls() -> None:
    with report_style():
        (axes,) = draw_history([0.2, 0.1, 0.5, 0.3], "points").axes
    assert list(axes.lines[0].get_ydata()) == [0.2, 0.2, 0.5, 0.5]
    assert axes.get_ylabel() == "points"
