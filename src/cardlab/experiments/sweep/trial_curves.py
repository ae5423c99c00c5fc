"""Logs for the learning curves of a trial: with a prefix, or with reports to a pruner."""

from collections.abc import Mapping
from dataclasses import dataclass

import optuna

from cardlab.training.callbacks import MetricsLog
from cardlab.training.curve_evaluation import MEAN_SCORE
from cardlab.training.experiment import Experiment
from cardlab.training.learning_curve import ITERATION

_WIN_RATE = "win_rate/"


@dataclass(frozen=True)
class PrefixedLog:
    """The curves of one of several trainings in one run."""

    log: MetricsLog
    prefix: str

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """Log the metrics with the prefix."""
        self.log.log_metrics({f"{self.prefix}{name}": value for name, value in metrics.items()}, step)


@dataclass(frozen=True)
class PruningLog:
    """Reports each point of a learning curve to the study, and prunes the trial when its pruner asks for it.

    Points are numbered from 1 to trainer.evaluations, so trials with iterations of other lengths can be compared.
    """

    log: MetricsLog
    trial: optuna.Trial
    experiment: Experiment
    metric: str
    is_last: bool  # no training of the trial follows

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """Log the metrics. Raises optuna.TrialPruned, which ends the training.

        A trial whose last training has ended is complete: pruning would save nothing.
        """
        self.log.log_metrics(metrics, step)
        if MEAN_SCORE not in metrics:
            return
        points = self.experiment.trainer.evaluations
        point = int(metrics[ITERATION]) * points // self.experiment.last_iteration
        self.trial.report(curve_score(metrics, self.metric), point)
        if self.trial.should_prune() and not (self.is_last and point == points):
            raise optuna.TrialPruned(f"behind the others at point {point} of {points} of the learning curve")


def curve_score(metrics: Mapping[str, float], metric: str) -> float:
    """The mean of the sweep's metric over the references, at one point of a learning curve."""
    if metric != "win_rate":
        return metrics[MEAN_SCORE]
    rates = [rate for name, rate in metrics.items() if name.startswith(_WIN_RATE)]
    return sum(rates) / len(rates)
