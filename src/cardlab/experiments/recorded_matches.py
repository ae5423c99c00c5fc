"""Evaluations, tournaments, comparisons and exploitations as MLflow runs, linked to training and policy.

One result is one run, however often it is measured: a repeated or interrupted command finds the run by the digest of
its result. A store that cannot be used costs a warning, never a result.
"""

import json
import sys
import time
from collections.abc import Container, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.agents.registry import own_folder
from cardlab.agents.specs import metric_name
from cardlab.evaluation.game_record import game_options
from cardlab.evaluation.intervals import SELF, Evaluation, estimate_metrics, main_score
from cardlab.experiments.run_paths import policy_name
from cardlab.games.make_game import game_data, without_training_options
from cardlab.games.protocol import Game
from cardlab.tracking import Store, TrackingUnavailable
from cardlab.tracking.experiment_tags import AGAINST, DEALS, FINAL_SCORE, evaluation_metrics
from cardlab.tracking.lineage import DIGEST, NOTE, PARENT, add_score, describe_run
from cardlab.tracking.policy_lookup import Origin, find_origin, print_run
from cardlab.tracking.policy_models import DealsOf, find_model, log_scores
from cardlab.tracking.registry import Registry

if TYPE_CHECKING:
    from cardlab.evaluation.tournament import Tournament
    from cardlab.experiments.comparison.compare import MethodComparison
    from cardlab.experiments.exploit import Exploitation

NOT_IN_DIGEST = "records results in MLflow"
RESULT = "result"
"""Tag of evaluations and tournaments: the digest of what was measured, on which deals, with which result."""


def record_evaluation(
    store: Store,
    game: Game,
    evaluation: Evaluation,
    *,
    policy: Path | Sequence[Path] | None,
    scores_training: bool,
    files: Iterable[Path],
) -> None:
    """Log an evaluation as a run of kind `evaluation`, with `files` as artifacts; prints a warning on failure.

    A result that the store has is not logged again; only the id of its run is printed. `policy`: the folder of the
    policy, those of a group (`evaluate_seeds`), or None for a scripted agent. `scores_training`: the score is that of
    the policy itself against the references of its own experiment, and is also logged to the run of its training; that
    of a group to the run that its trainings are under.
    """
    name, folders = evaluation["experiment"], [policy] if isinstance(policy, Path) else list(policy or ())
    by_seed: Mapping[str, Evaluation] = evaluation.get("by_seed") or {"": evaluation}
    digests = [entry["policy_digest"] for entry in by_seed.values() if entry["policy_digest"]]
    against = [reference for reference in evaluation["references"] if reference != SELF]
    with _warn("evaluation"), _record_lock(store):
        origins = [find_origin(store, digest) for digest in digests]
        origin = origins[0] if origins else None
        title = f"{name} vs {', '.join(against)}" if against else name
        title += f" · {len(by_seed)} seeds" if len(by_seed) > 1 else ""
        played = max(figures["deals"] for figures in evaluation["references"].values())
        deals = f"{played:,} deals, seed {evaluation['seed']}"
        tags = {"kind": "evaluation", NOTE: describe_run(f"evaluation of {title} at {game.spec.name}: {deals}")}
        tags |= _origin_tags(origin) | ({DIGEST: " ".join(digests)} if digests else {})
        against_name, score = main_score(evaluation)
        tags |= {AGAINST: against_name, DEALS: str(score.deals)}
        if len(by_seed) > 1:
            tags = {key: value for key, value in tags.items() if key != "seed"} | {"seeds": ",".join(by_seed)}
        params = {"name": name, "arena": {"references": against, **_deals(evaluation)}, "game": _options(game)}
        measured = {key: value for key, value in evaluation.items() if not (digests and key == "experiment")}
        made = [known.run_id if known else None for known in origins]
        policies = [(folder, game_data(game), name, run) for folder, run in zip(folders, made, strict=True)]
        _record(store, title, tags, params, measured, evaluation_metrics(evaluation), policies, files)
        if scores_training:
            _score_trainings(store, game, evaluation, list(zip(by_seed.values(), origins, strict=False)))


def _score_trainings(
    store: Store, game: Game, evaluation: Evaluation, trainings: Sequence[tuple[Evaluation, Origin | None]]
) -> None:
    """Log the score of each policy to the run of its training, and that of the group to the run that they are under."""
    parents = set[str]()
    for own, origin in trainings:
        if origin is not None:
            _log_score(store, origin.run_id, own)
            run = store.client.get_run(origin.run_id)
            parents.add(run.data.tags.get(PARENT, ""))
            model = find_model(store.client, run.info.experiment_id, str(own["policy_digest"]), origin.run_id)
            if model is not None:
                deals = max(row["deals"] for row in own["references"].values())
                dataset = DealsOf(_options(game), deals, evaluation["seed"])
                _score_model(store, origin.run_id, model.model_id, [FINAL_SCORE], dataset)
    if "by_seed" in evaluation and len(parents) == 1 and (parent := parents.pop()):
        seeds = store.client.get_run(parent).data.tags.get("seeds")
        if seeds == ",".join(evaluation["by_seed"]):
            _log_score(store, parent, evaluation)


def _log_score(store: Store, run_id: str, evaluation: Evaluation) -> None:
    """Log the score against the strongest reference to a run of training, unless it has one of more deals."""
    against, score = main_score(evaluation)
    before = store.client.get_run(run_id).data.tags.get(DEALS, "")
    if before.isdigit() and score.deals < int(before):
        return
    store.client.set_tag(run_id, DEALS, score.deals)
    final = {key: value for key, value in evaluation_metrics(evaluation).items() if FINAL_SCORE in key}
    _log_new(store, run_id, final)
    store.client.set_tag(run_id, AGAINST, against)
    opponent = "" if against == SELF else f" against {against}"
    line = f"**score {score.mean:.3f}**, 95 % interval {score.low:.3f} to {score.high:.3f}{opponent}"
    description = store.client.get_run(run_id).data.tags.get(NOTE, "")
    store.client.set_tag(run_id, NOTE, add_score(description, line))


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
    folders = [folder for agent in agents if (folder := own_folder(game, agent)) is not None]
    with _warn("tournament"), _record_lock(store):
        about = f"tournament of {len(agents)} agents at {label}: {tournament['deals']:,} deals of each pair"
        digests = " ".join(policy_digest(folder) for folder in folders)
        tags = {"kind": "tournament", NOTE: describe_run(about), **({DIGEST: digests} if digests else {})}
        params = {"agents": agents, "arena": _deals(tournament), "game": _options(game)}
        title = f"{label} tournament · {len(agents)} agents"
        measured = {**tournament, "policies": digests, "label": label}
        policies = [(folder, game_data(game), policy_name(folder), None) for folder in folders]
        _record(store, title, tags, params, measured, metrics, policies, files)


def record_comparison(store: Store, comparison: "MethodComparison", *, files: Iterable[Path]) -> None:
    """Log a comparison of methods as a run of kind `comparison`; prints a warning on failure.

    `score/METHOD`, and of the best method minus each other one `difference/METHOD`, with their intervals.
    """
    game, names = comparison.game, [method.name for method in comparison.methods]
    estimates = {f"score/{method.name}": comparison.score(method) for method in comparison.methods}
    estimates |= {f"difference/{pair.other}": pair.points for pair in comparison.pairs}
    metrics = estimate_metrics(estimates)
    deals = {"deals": comparison.deals, "seed": comparison.arena.seed}
    with _warn("comparison"), _record_lock(store):
        digests = " ".join(digest for method in comparison.methods for digest in method.digests)
        tags = {"kind": "comparison", NOTE: describe_run("\n".join(comparison.verdicts)), DIGEST: digests}
        params = {"methods": names, "arena": {"against": comparison.against, **deals}, "game": _options(game)}
        measured = {"policies": digests, "against": comparison.against, "metrics": metrics, **deals}
        _record(store, " vs ".join(names), tags, params, measured, metrics, [], files)


def record_exploitation(store: Store, outcome: "Exploitation") -> None:
    """Log an exploitation as a run of kind `exploit`, with the response; prints a warning on failure."""
    experiment, points = outcome.experiments[0], outcome.points
    game = without_training_options(experiment.game)
    with _warn("exploitation"), _record_lock(store):
        about = f"{experiment.agent_name} against {outcome.policy} at {game.spec.name}: {points.deals:,} unseen deals"
        tags = {"kind": "exploit", NOTE: describe_run(about), "exploit.policy": outcome.policy}
        tags |= {DIGEST: outcome.digest} if outcome.digest else {}
        metrics = {f"exploit/{key}": value for key, value in points.named("points", "points_").items()}
        folder = own_folder(game, outcome.policy)
        policies = [] if folder is None else [(folder, game_data(game), policy_name(folder), None)]
        title, measured = f"exploit {experiment.name}", {**outcome.figures(), "policy": outcome.policy}
        arena = {"deals": points.deals, "seed": experiment.arena.seed}
        params = {**experiment.config, "arena": arena, "game": _options(game)}
        _record(store, title, tags, params, measured, metrics, policies, [outcome.response])


def record_measured(store: Store, policy: Path, metrics: Mapping[str, float]) -> None:
    """Log metrics of a policy alone to the run of its training, where there is one; prints a warning on failure."""
    with _warn("measurement"), _record_lock(store):
        origin = find_origin(store, policy_digest(policy))
        if origin is not None:
            _log_new(store, origin.run_id, metrics)
            print_run(store, f"attributes.run_id = '{origin.run_id}'")


@contextmanager
def _warn(what: str) -> Generator[None]:
    try:
        yield
    except TrackingUnavailable as error:
        print(f"warning: the {what} is not recorded in MLflow: {error}", file=sys.stderr)


@contextmanager
def _record_lock(store: Store) -> Generator[None]:
    """Commands that record at the same time take turns."""
    with store.wrap_errors():
        store.check()
        with FileLock(f"{store.file}.results.lock") if store.file else nullcontext():
            yield


def _record(
    store: Store,
    title: str,
    tags: Mapping[str, str],
    params: Mapping[str, Any],
    result: Mapping[str, Any],
    metrics: Mapping[str, float],
    policies: Sequence[tuple[Path, Mapping[str, Any], str, str | None]],
    files: Iterable[Path],
) -> None:
    """Log `result` as a run: a new one, or the one that an interrupted command began. One that is complete stays.

    `policies`: as for `Registry.model_id`. The scores of one policy are also metrics of its model.
    """
    game = params["game"]["name"]
    digest = sha256(json.dumps({"game": params["game"], **result}, sort_keys=True).encode()).hexdigest()[:32]
    found = store.search_runs(f"tags.`{RESULT}` = '{digest}'", game, 1)
    known = found[0][1].info if found else None
    if known is not None and known.status == "FINISHED":
        print_run(store, f"attributes.run_id = '{known.run_id}'", ", recorded before")
        return
    resume = known.run_id if known else None
    with store.start_run(game, title, tags={**tags, RESULT: digest}, params=params, resume=resume) as run:
        print_run(store, f"attributes.run_id = '{run.id}'")
        models, deals = (
            [Registry(store).model_id(*policy) for policy in policies],
            DealsOf(params["game"], **_deals(params["arena"])),
        )
        _log_inputs(store, run.id, deals, models)
        run.log_metrics(metrics, 0)
        if len(models) == 1 and run.flush():
            _score_model(store, run.id, models[0], metrics, deals)
        for path in files:
            run.log_artifact(path)


def _deals(result: Mapping[str, Any]) -> dict[str, Any]:
    return {"deals": result["deals"], "seed": result["seed"]}


def _options(game: Game) -> dict[str, Any]:
    return {"name": game.spec.name, **game_options(game)}


def _origin_tags(origin: Origin | None) -> dict[str, str]:
    """The tag `training_run`, and the tags by which runs are grouped."""
    if origin is None:
        return {}
    shared = ("agent", "seed", "group")
    return {"training_run": origin.run_id} | {key: origin.tags[key] for key in shared if key in origin.tags}


def _log_new(store: Store, run_id: str, metrics: Mapping[str, float]) -> None:
    """Log metrics at the last step of a training, unless its last values are these."""
    from mlflow.entities import Metric  # noqa: PLC0415  imported with the client

    stored = {row.key: row for row in store.client.get_run(run_id).data.to_proto().metrics}
    step, now = max((row.step for row in stored.values()), default=0), int(time.time() * 1000)
    new = {key: value for key, value in metrics.items() if key not in stored or stored[key].value != value}
    store.client.log_batch(run_id, [Metric(key, value, now, step) for key, value in new.items()])


def _log_inputs(store: Store, run_id: str, deals: DealsOf, models: Iterable[str]) -> None:
    """Log what was measured on what: logged models, and the deals as a dataset."""
    from mlflow.entities import DatasetInput, InputTag, LoggedModelInput  # noqa: PLC0415  slow import

    inputs, tag = [LoggedModelInput(model) for model in models], InputTag("mlflow.data.context", "evaluation")
    store.client.log_inputs(run_id, [DatasetInput(deals.dataset(), [tag])], inputs)


def _score_model(store: Store, run_id: str, model_id: str, names: Container[str], deals: DealsOf) -> None:
    """Log the last values of metrics of a run as metrics of a model too."""
    rows = store.client.get_run(run_id).data.to_proto().metrics
    log_scores(store.client, run_id, model_id, [row for row in rows if row.key in names], deals)
