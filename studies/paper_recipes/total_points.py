"""Prints the running total of points of trainings as CSV: name, games, total_points, cpu_seconds.

Usage: total_points.py RUN... > open_face_total_points.csv. RUN is the id of a training's run in MLflow, as `cardlab
train` prints it. One row for every tenth iteration. MLFLOW_TRACKING_URI names another store than mlflow.db.
"""

import csv
import os
import sys
from collections.abc import Sequence

from mlflow.tracking import MlflowClient

METRICS = {"games": "train/games", "total_points": "train/total_points", "cpu_seconds": "usage/cpu_seconds"}
EVERY = 10
"""Iterations from one row to the next."""


def main(runs: Sequence[str]) -> None:
    """Write the rows of all trainings to stdout."""
    client = MlflowClient(os.environ.get("MLFLOW_TRACKING_URI", "sqlite:///mlflow.db"))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["name", *METRICS])
    for run in runs:
        name = client.get_run(run).info.run_name
        histories = [client.get_metric_history(run, metric) for metric in METRICS.values()]
        points = [sorted((point.step, point.value) for point in history) for history in histories]
        rows = list(zip(*points, strict=True))
        writer.writerows([name, *(f"{value:.1f}" for _, value in row)] for row in rows[EVERY - 1 :: EVERY])


if __name__ == "__main__":
    main(sys.argv[1:])
