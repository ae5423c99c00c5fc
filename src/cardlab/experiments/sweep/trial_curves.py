"""Learning curves of a trial on their way to MLflow: named apart, or watched by a pruner."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

import optuna

from cardlab.training.callbacks import ITERATION, MetricsLog
from cardlab.training.curve_evaluation import MEAN_SCORE
from cardlab.training.experiment import Experiment

_WIN_RATE = "win_rate/"


@dataclass(frozen=True)
class PrefixedLog:
    """The curves of one of several trainings in one run."""

    log: MetricsLog
    prefix: str

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """As Run.log_metrics."""
        self.log.log_metrics({f"{self.prefix}{name}": value for name, value in metrics.items()}, step)


@dataclass(frozen=True)
class WatchedCurve:
    """Reports each point of a learning curve to the study, and prunes the trial when its pruner says so.

    Points are numbered from 1 to trainer.evaluations, so trials with rounds of other lengths can be compared.
    """

    log: MetricsLog
    trial: optuna.Trial
    experiment: Experiment
    metric: str

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """As Run.log_metrics. Raises optuna.TrialPruned, which comes out of the training."""
        self.log.log_metrics(metrics, step)
        if MEAN_SCORE not in metrics:
            return
        points = self.experiment.trainer.evaluations
        point = int(metrics[ITERATION]) * points // self.experiment.last_iteration
        self.trial.report(strength_of(metrics, self.metric), point)
        if self.trial.should_prune():
            give_up(f"behind the others at point {point} of {points} of the learning curve")


def strength_of(metrics: Mapping[str, float], metric: str) -> float:
    """The mean over the references of what a point of a curve has measured."""
    if metric != "win_rate":
        return metrics[MEAN_SCORE]
    rates = [rate for name, rate in metrics.items() if name.startswith(_WIN_RATE)]
    return sum(rates) / len(rates)


def give_up(reason: str) -> NoReturn:
    """End a trial that is not worth its cost."""
    raise optuna.TrialPruned(reason)
