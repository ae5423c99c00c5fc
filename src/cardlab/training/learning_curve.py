"""The learning curve: metrics of every iteration, and scores at evenly spaced points."""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

from lightning.pytorch.callbacks import Callback

from cardlab.learners.base import Learner, MetricMeans, Metrics, RolloutSummary
from cardlab.training.callbacks import MetricsLog
from cardlab.training.curve_evaluation import MEAN_SCORE
from cardlab.training.experiment import Experiment
from cardlab.training.game_totals import GameTotals
from cardlab.training.progress import TrainingProgress
from cardlab.training.snapshots import is_point

ITERATION = "train/iteration"

Row = dict[str, float]


class LearningCurve(Callback):
    """Logs every iteration, evaluates at evenly spaced points; with `patience` it stops and restores the best."""

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
        self.patience = experiment.trainer.patience
        self.decisions_per_iteration = experiment.agent.decisions_per_iteration
        self.metrics_log = log  # Lightning sets an attribute `log`
        self.progress = progress
        self.extra_metrics = extra_metrics  # logged, but not part of the curve
        self.totals = GameTotals(experiment.trainer.rolling_window)
        self.rows: list[Row] = []
        self._since: list[Metrics] = []  # metrics since the last point
        self._best: dict[str, Any] = {}  # weights at the best point, with `patience`
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
        logged = {
            **metrics,
            ITERATION: float(pl_module.iterations_done),
            "usage/decisions_per_second": rollout.decisions / (time.perf_counter() - self._clock),
            **self.extra_metrics(),
            **self.totals.add(metrics, batch),
        }
        point: Mapping[str, float] = {}
        if is_point(pl_module.iterations_done, self.points, self.last_iteration):
            point = self._add_row(pl_module)
            logged |= {name: value for name, value in point.items() if not name.startswith("interval/")}  # in curve.csv
            if self._is_plateau():
                trainer.should_stop = True
                pl_module.ema_network.load_state_dict(self._best)
        if self.metrics_log is not None:
            # An iteration collects a few decisions more, each seed others: only at equal steps are seeds averaged.
            self.metrics_log.log_metrics(logged, pl_module.iterations_done * self.decisions_per_iteration)
        self.progress(pl_module.iterations_done, pl_module.decisions_done, point)
        self._clock = time.perf_counter()

    def _add_row(self, learner: Learner) -> Mapping[str, float]:
        learner.network.eval()
        scores = self.evaluate()
        means = MetricMeans()
        for metrics in self._since:
            means.add(**metrics)  # an iteration without a kind of decision has no loss of it
        counters = {"iteration": float(learner.iterations_done), "decisions": float(learner.decisions_done)}
        self.rows.append({**counters, **means.result(), **scores})
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
        return {"rows": self.rows, "since": self._since, "best": self._best, "totals": self.totals.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the curve."""
        self.rows = list(state_dict["rows"])
        self._since = list(state_dict["since"])
        self._best = dict(state_dict["best"])
        if "totals" in state_dict:
            self.totals.load_state_dict(state_dict["totals"])
