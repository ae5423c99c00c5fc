"""metrics.json: the figures of an experiment that `dvc metrics` and `dvc exp show` compare."""

from collections.abc import Mapping
from typing import Any

from cardlab.evaluation.main_score import Evaluation, main_score


def experiment_metrics(evaluation: Evaluation, training: Mapping[str, Any]) -> dict[str, float | str]:
    """The main score with its 95 % interval over seeds and deals, in points per game, and the CPU time of one training.

    `training` is the content of training.json.
    """
    against, score = main_score(evaluation)
    seeds = len(evaluation["seeds"])
    return {
        "score": round(score.mean, 4),
        "low": round(score.low, 4),
        "high": round(score.high, 4),
        "against": against,
        "seeds": seeds,
        "cpu_minutes": round(training["cpu_seconds"] / seeds / 60, 1),
    }
