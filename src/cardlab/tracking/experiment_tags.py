"""What the MLflow UI shows of an experiment: its description, the columns of its runs, and the names of scores."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cardlab.agents.specs import metric_name
from cardlab.games.make_game import game_names
from cardlab.tracking.lineage import NOTE
from cardlab.tracking.run import LEARNING

if TYPE_CHECKING:
    from mlflow import MlflowClient

    from cardlab.evaluation.intervals import Evaluation

VIEW = "cardlab"
"""Key of the view: an address of the MLflow UI with `viewStateShareKey=VIEW` opens with these columns and charts."""

FINAL_SCORE = "score/evaluation"
"""Metric of a training: its last evaluation, against the strongest of the experiment's references.

Of a trial the value that its study has; of a sweep that of the best trial.
"""

AGAINST = "against"
"""Tag of a run with FINAL_SCORE: the reference of that score, `self` in a game for one player; of a trial, all."""

DEALS = "deals"  # tag of a run with FINAL_SCORE: the number of deals of that score

_VIEW_TAG = f"mlflow.sharedViewState.{VIEW}"
_COLUMNS = (
    f"metrics.`{FINAL_SCORE}`",
    f"tags.`{AGAINST}`",
    "metrics.`score/mean`",
    "tags.`changed`",
    "tags.`agent`",
    "tags.`seed`",
)
_SECTIONS = {  # name → open; MLflow's own order is alphabetical, with every section open
    "score": True,
    "learning": True,
    "usage": False,
    "win_rate": False,
    "train": False,
    "opponents": False,
    "interval/score": False,
    "interval/win_rate": False,
}
_SECTION = {"columns": 2, "isReordered": True, "deleted": False, "isGenerated": True}  # of three, titles are cut


def experiment_tags(game: str) -> Mapping[str, str]:
    """Tags for the experiment with the runs of `game`."""
    tags = {"mlflow.experimentKind": "custom_model_development", _VIEW_TAG: json.dumps(_view())}
    return tags | {NOTE: _meaning_of_scores(game)}


def update_experiments(client: "MlflowClient", *, is_own: bool = True) -> None:
    """Set the tags of this project's experiments, e.g. of an earlier version; those of others stay as they are.

    MLflow's `Default` is deleted from a store of one's own (`is_own`) if it has no runs.
    """
    for experiment in client.search_experiments():
        if is_own and experiment.experiment_id == "0" and not client.search_runs(["0"], max_results=1):
            client.delete_experiment("0")
        if experiment.name not in game_names() and _VIEW_TAG not in experiment.tags:
            continue
        for key, value in experiment_tags(experiment.name).items():
            if experiment.tags.get(key) != value and not (key == NOTE and NOTE in experiment.tags):
                client.set_experiment_tag(experiment.experiment_id, key, value)


def evaluation_metrics(evaluation: "Evaluation") -> dict[str, float]:
    """Metrics with the names of a learning curve: `score/NAME`, `win_rate/NAME`, `interval/…`, and `score/evaluation`.

    In a game for one player, `difference/NAME` is the paired difference to the reference NAME.
    """
    from cardlab.evaluation.intervals import SELF, Estimate, estimate_metrics, main_score  # noqa: PLC0415  scipy

    rows: Mapping[str, Mapping[str, float]] = evaluation["references"]
    estimates = {FINAL_SCORE: main_score(evaluation)[1]}
    for reference, row in rows.items():
        name, deals = metric_name(reference), int(row["deals"])
        if SELF not in rows or reference == SELF:
            estimates[f"score/{name}"] = Estimate(row["mean"], row["low"], row["high"], deals)
        for kind in ("win_rate", "difference"):
            if kind in row:
                estimates[f"{kind}/{name}"] = Estimate(row[kind], row[f"{kind}_low"], row[f"{kind}_high"], deals)
    return estimate_metrics(estimates)


def _meaning_of_scores(game: str) -> str:
    return (
        f"Runs of {game}. `score/NAME` is the agent's points per game against the reference agent NAME at all other "
        "seats, on the same deals at every seat; 0 is as strong as NAME, above 0 is better. In a game for one player "
        "`score/self` is its points per game; more is better.\n\n"
        f"`{FINAL_SCORE}`: against the strongest reference, from the last `cardlab evaluate`; of a "
        "trial, the value in its study, against all references. `interval/`: ends of "
        "95 % intervals. Steps are decisions."
    )


def _view() -> dict[str, Any]:
    """The state of MLflow's page of runs: trainings only, the score first, details folded."""
    final = {"type": "BAR", "metricKey": FINAL_SCORE, "metricSectionId": "score", "isGenerated": False}
    charts = [final, *(_line(name) for name in LEARNING)]
    return {
        "searchFilter": "tags.kind = 'training'",
        "orderByKey": "attributes.`end_time`",  # ordered by start, trainings would be folded under their parents
        "orderByAsc": False,
        "selectedColumns": _COLUMNS,
        "isAccordionReordered": True,
        "compareRunSections": [
            {"uuid": name, "name": name, "display": shown} | _SECTION for name, shown in _SECTIONS.items()
        ],
        "compareRunCharts": [
            {"uuid": one["metricKey"], "runsCountToCompare": 10, "deleted": False} | one for one in charts
        ],
    }


def _line(name: str) -> dict[str, Any]:
    scale = {"xAxisScaleType": "linear", "scaleType": "linear", "range": {}, "lineSmoothness": 0}
    axes = {"xAxisKey": "step", "yAxisKey": "metric", "yAxisExpressions": [], "selectedXAxisMetricKey": ""}
    shared = {"useGlobalXaxisKey": True, "useGlobalLineSmoothing": True, "ignoreOutliers": False}
    chart = {"type": "LINE", "metricKey": f"train/{name}", "metricSectionId": "learning", "isGenerated": True}
    return {**chart, "displayName": name, **scale, **axes, **shared}
