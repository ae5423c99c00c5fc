"""The learning curve: metrics of the iterations, and scores at evenly spaced points."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lightning.pytorch.callbacks import Callback

from cardlab.learners.base import Learner, MetricMeans, Metrics, RolloutSummary
from cardlab.training.callbacks import MetricsLog, is_point
from cardlab.training.curve_evaluation import MEAN_SCORE
from cardlab.training.experiment import Experiment
from cardlab.training.game_totals import WIN_RATE, GameTotals
from cardlab.training.progress import TrainingProgress

ITERATION = "train/iteration"
MAX_LOGGED = 10_000
"""Points of a metric in MLflow. Of more iterations, each point is the mean of several."""

Row = dict[str, float]


class LearningCurve(Callback):
    """Logs the iterations, evaluates at evenly spaced points; with `patience` it stops and restores the best."""

    def __init__(
        self,
        experiment: Experiment,
        evaluate: Callable[[], Mapping[str, float]],
        log: MetricsLog | None,
        progress: TrainingProgress,
        extra_metrics: Callable[[], Mapping[str, float]],
    ) -> None:
        self.evaluate = evaluate
        self.points = experiment.trainer.evaluations
        self.last_iteration = experiment.last_iteration
        self.iterations_per_log = -(-experiment.total_iterations // MAX_LOGGED)
        self.patience = experiment.trainer.patience
        self.decisions_per_iteration = experiment.agent.decisions_per_iteration
        self.metrics_log = log  # Lightning sets an attribute `log`
        self.progress = progress
        self.extra_metrics = extra_metrics  # logged, but not part of the curve
        self.totals = GameTotals(experiment.trainer.rolling_window)
        self.rows: list[Row] = []
        self._since: list[Metrics] = []  # metrics since the last point
        self._unlogged: list[Metrics] = []  # metrics since the last log
        self._best: dict[str, Any] = {}  # weights at the best point, with `patience`
        self._decisions, self._seconds = 0, 0.0  # since the last log
        self._clock = time.perf_counter()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Log one iteration."""
        assert isinstance(pl_module, Learner)
        rollout: RolloutSummary = outputs["rollout"]
        metrics: Metrics = {
            **{f"train/{name}": value for name, value in outputs["metrics"].items()},
            "train/return": rollout.payoff,
            "train/episode_length": rollout.decisions / max(1, rollout.seats),
        }
        self._since.append(metrics)
        totals = self.totals.add(metrics, batch)
        won = {WIN_RATE: totals.pop(WIN_RATE)} if WIN_RATE in totals else {}
        self._unlogged.append(metrics | won)
        self._decisions += rollout.decisions
        self._seconds += time.perf_counter() - self._clock
        point: Mapping[str, float] = {}
        if is_point(pl_module.iterations_done, self.points, self.last_iteration):
            point = self._add_row(pl_module)
            if self._is_plateau():
                trainer.should_stop = True
                pl_module.ema_network.load_state_dict(self._best)
        done = pl_module.iterations_done
        if point or done % self.iterations_per_log == 0 or done == self.last_iteration:
            self._log(done, {**totals, **point})
        self.progress(pl_module.iterations_done, pl_module.decisions_done, point)
        self._clock = time.perf_counter()

    def _log(self, iteration: int, latest: Mapping[str, float]) -> None:
        """Log the means of the iterations since the last log, and the `latest` values of other metrics."""
        logged = {
            **_means(self._unlogged),
            ITERATION: float(iteration),
            "usage/decisions_per_second": self._decisions / self._seconds,
            **self.extra_metrics(),
            **{name: value for name, value in latest.items() if not name.startswith("interval/")},  # in curve.csv
        }
        if self.metrics_log is not None:
            # An iteration collects a few decisions more, each seed others: only at equal steps are seeds averaged.
            self.metrics_log.log_metrics(logged, iteration * self.decisions_per_iteration)
        self._unlogged.clear()
        self._decisions, self._seconds = 0, 0.0

    def _add_row(self, learner: Learner) -> Mapping[str, float]:
        learner.network.eval()
        scores = self.evaluate()
        counters = {"iteration": float(learner.iterations_done), "decisions": float(learner.decisions_done)}
        self.rows.append({**counters, **_means(self._since), **scores})
        self._since.clear()
        if self.patience and scores[MEAN_SCORE] > max((row[MEAN_SCORE] for row in self.rows[:-1]), default=-math.inf):
            self._best = {name: weights.clone() for name, weights in learner.ema_network.state_dict().items()}
        return scores

    def _is_plateau(self) -> bool:
        """Whether the last `patience` points brought no new best of the mean score over the references."""
        if not self.patience or len(self.rows) <= self.patience:
            return False
        scores = [row[MEAN_SCORE] for row in self.rows]
        return max(scores[-self.patience :]) <= max(scores[: -self.patience])

    def state_dict(self) -> dict[str, Any]:
        """The curve so far."""
        return {
            "rows": self.rows,
            "since": self._since,
            "unlogged": self._unlogged,
            "best": self._best,
            "totals": self.totals.state_dict(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the curve."""
        self.rows = list(state_dict["rows"])
        self._since = list(state_dict["since"])
        self._unlogged = list(state_dict["unlogged"])
        self._best = dict(state_dict["best"])
        self.totals.load_state_dict(state_dict["totals"])


def _means(several: Sequence[Metrics]) -> Metrics:
    """Mean of each metric; an iteration without a kind of decision has no loss of it."""
    means = MetricMeans()
    for metrics in several:
        means.add(**metrics)
    return means.result()
