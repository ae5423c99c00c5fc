"""Evaluations and tournaments as MLflow runs, linked to the training and the policy that they measure.

A store that cannot be used costs a warning, never a result.
"""

import json
import sys
import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.agents.policy_paths import policy_folder
from cardlab.agents.specs import metric_name
from cardlab.evaluation.game_record import game_options
from cardlab.evaluation.intervals import Estimate, interval_metrics
from cardlab.evaluation.main_score import SELF, Evaluation, main_score
from cardlab.games.protocol import Game
from cardlab.tracking import Store, TrackingUnavailable
from cardlab.tracking.experiment_tags import AGAINST, FINAL_SCORE
from cardlab.tracking.lineage import NOTE, describe_run
from cardlab.tracking.policy_lookup import DIGEST, Origin, find_origin
from cardlab.tracking.registry import Registry

if TYPE_CHECKING:
    from mlflow.entities import Dataset

    from cardlab.evaluation.tournament import Tournament

NOT_IN_DIGEST = "records results in MLflow"


def record_evaluation(
    store: Store,
    game: Game,
    evaluation: Evaluation,
    *,
    policy: Path | None,
    scores_training: bool,
    files: Iterable[Path],
) -> None:
    """Log an evaluation as a run of kind `evaluation`, with `files` as artifacts; prints a warning on failure.

    `policy`: the folder of the policy, None for a scripted agent. `scores_training`: the score is that of the policy
    itself against the references of its own experiment, and is also logged to the run of its training.
    """
    name, digest = evaluation["experiment"], evaluation["policy_digest"]
    against = [reference for reference in evaluation["references"] if reference != SELF]
    with _warn("evaluation"):
        origin = find_origin(store, digest) if digest else None
        title = f"{name} vs {', '.join(against)}" if against else name
        deals = f"{evaluation['deals']:,} deals, seed {evaluation['seed']}"
        tags = {"kind": "evaluation", NOTE: describe_run(f"evaluation of {title} at {game.spec.name}: {deals}")}
        tags |= _origin_tags(origin) | ({DIGEST: digest} if digest else {}) | {AGAINST: main_score(evaluation)[0]}
        params = {"name": name, "arena": {"references": against, **_deals(evaluation)}, "game": _options(game)}
        metrics = evaluation_metrics(evaluation)
        with store.start_run(game.spec.name, title, tags=tags, params=params) as run, store.wrap_errors():
            source = origin.run_id if origin else None
            models = [] if policy is None else [Registry(store).model_id(policy, game.spec.name, name, source)]
            _log_measurement(store, run.id, game, metrics, evaluation, models)
            for path in files:
                run.log_artifact(path)
            print(f"run:    {run.id}")
            if origin is not None and scores_training:
                final = {key: value for key, value in metrics.items() if FINAL_SCORE in key}
                _log(store, origin.run_id, final, step=_last_step(store, origin.run_id))
                store.client.set_tag(origin.run_id, AGAINST, tags[AGAINST])


def record_tournament(store: Store, game: Game, tournament: "Tournament", *, label: str, files: Iterable[Path]) -> None:
    """Log a tournament as a run of kind `tournament`; prints a warning on failure.

    `score/AGENT` is the mean of points over all opponents, `rating/AGENT` the mean of its rating.
    """
    agents: list[str] = tournament["agents"]
    metrics: dict[str, float] = {}
    for row in tournament["standings"]:
        agent = metric_name(row["agent"]).replace("/", ".")  # each / would begin a section of charts
        metrics |= {f"score/{agent}": row["points"], f"rating/{agent}": row["mu"]}
        metrics |= {f"win_rate/{agent}": row["win_rate"]} if "win_rate" in row else {}
    folders = [folder for agent in agents if (folder := policy_folder(agent, game.spec.name)) is not None]
    with _warn("tournament"):
        about = f"tournament of {len(agents)} agents at {label}: {tournament['deals']:,} deals of each pair"
        digests = " ".join(policy_digest(folder) for folder in folders)
        tags = {"kind": "tournament", NOTE: describe_run(about), **({DIGEST: digests} if digests else {})}
        params = {"agents": agents, "arena": _deals(tournament), "game": _options(game)}
        title = f"{label} tournament · {len(agents)} agents"
        with store.start_run(game.spec.name, title, tags=tags, params=params) as run, store.wrap_errors():
            models = [Registry(store).model_id(folder, label, folder.name, None) for folder in folders]
            _log_measurement(store, run.id, game, metrics, tournament, models)
            for path in files:
                run.log_artifact(path)


def evaluation_metrics(evaluation: Evaluation) -> dict[str, float]:
    """Metrics with the names of a learning curve: `score/NAME`, `win_rate/NAME`, `interval/…`, and `score/evaluation`.

    In a game for one player, `difference/NAME` is the paired difference to the reference NAME.
    """
    rows: Mapping[str, Mapping[str, float]] = evaluation["references"]
    estimates = {FINAL_SCORE: main_score(evaluation)[1]}
    for reference, row in rows.items():
        name, deals = metric_name(reference), int(row["deals"])
        if SELF not in rows or reference == SELF:
            estimates[f"score/{name}"] = Estimate(row["mean"], row["low"], row["high"], deals)
        for kind in ("win_rate", "difference"):
            if kind in row:
                estimates[f"{kind}/{name}"] = Estimate(row[kind], row[f"{kind}_low"], row[f"{kind}_high"], deals)
    metrics = {name: estimate.mean for name, estimate in estimates.items()}
    for name, estimate in estimates.items():
        metrics |= interval_metrics(name, estimate)
    return metrics


@contextmanager
def _warn(what: str) -> Generator[None]:
    try:
        yield
    except TrackingUnavailable as error:
        print(f"warning: the {what} is not recorded in MLflow: {error}", file=sys.stderr)


def _deals(result: Mapping[str, Any]) -> dict[str, Any]:
    return {"deals": result["deals"], "seed": result["seed"]}


def _options(game: Game) -> dict[str, Any]:
    return {"name": game.spec.name, **game_options(game)}


def _origin_tags(origin: Origin | None) -> dict[str, str]:
    """The tag `training_run`, and the group tags of the training."""
    if origin is None:
        return {}
    return {"training_run": origin.run_id} | {key: origin.tags[key] for key in ("agent", "seed") if key in origin.tags}


def _last_step(store: Store, run_id: str) -> int:
    """The last step of a run: decisions of a training."""
    return max((metric.step for metric in store.client.get_run(run_id).data.to_proto().metrics), default=0)


def _log_measurement(
    store: Store, run_id: str, game: Game, metrics: Mapping[str, float], result: Mapping[str, Any], models: list[str]
) -> None:
    """Log the metrics and the inputs of a run: the deals as a dataset, and logged models."""
    from mlflow.entities import Dataset, DatasetInput, InputTag, LoggedModelInput  # noqa: PLC0415  slow import

    deals = json.dumps({"game": _options(game), **_deals(result)}, sort_keys=True)
    name = f"{result['deals']} deals of {game.spec.name}, seed {result['seed']}"
    dataset = Dataset(name, sha256(deals.encode()).hexdigest()[:8], "code", deals)
    inputs = [LoggedModelInput(model) for model in models]
    store.client.log_inputs(run_id, [DatasetInput(dataset, [InputTag("mlflow.data.context", "evaluation")])], inputs)
    _log(store, run_id, metrics, model=models[0] if len(models) == 1 else None, dataset=dataset)


def _log(
    store: Store,
    run_id: str,
    metrics: Mapping[str, float],
    *,
    step: int = 0,
    model: str | None = None,
    dataset: "Dataset | None" = None,
) -> None:
    """Log metrics; those of a logged model on a dataset are also on the page of the model."""
    from mlflow.entities import Metric  # noqa: PLC0415  imported with the client

    now = int(time.time() * 1000)
    about = (model, dataset.name, dataset.digest) if model and dataset else ()
    rows = [Metric(key, value, now, step, *about, run_id=run_id) for key, value in metrics.items()]
    store.client.log_batch(run_id, metrics=rows)
