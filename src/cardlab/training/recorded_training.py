"""A training that is recorded as a run of the tracking store, and training.json, its summary."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cardlab.core.files import write_atomically
from cardlab.core.parts import NAME
from cardlab.evaluation.deals import Purpose, purpose_seed
from cardlab.evaluation.game_record import game_options
from cardlab.games.make_game import game_data, without_training_options
from cardlab.tracking import RecordIncomplete, Run, Store
from cardlab.tracking.lineage import CODE, DIGEST, LINKS
from cardlab.tracking.policy_lookup import print_run
from cardlab.tracking.policy_models import POLICY, SNAPSHOT, DealsOf, PolicyToLog
from cardlab.training.curve_evaluation import MEAN_SCORE
from cardlab.training.experiment import Experiment, check_device, training_code
from cardlab.training.learning_check import NOT_LEARNED, not_learned, plan
from cardlab.training.progress import training_progress
from cardlab.training.run import Trained, lock_run_folder, train
from cardlab.training.start_point import linked_policies

FORMAT = 2


def write_summary(trained: Trained, origin: Mapping[str, str], path: Path) -> None:
    """Write budget, time, speed and `origin` (tags of the lineage) as JSON. Times are those of this machine."""
    spent = trained.spent
    content = {
        "format": FORMAT,
        "policy_digest": trained.digest,
        "decisions": trained.decisions,
        "iterations": trained.iterations,
        "cpu_seconds": round(spent.cpu, 1),
        "wall_seconds": round(spent.wall, 1),
        "decisions_per_second": round(trained.decisions / max(spent.wall, 1e-3)),
        "origin": dict(origin),
    }
    write_atomically(path, json.dumps(content, indent=2) + "\n")


def identity_tags(experiment: Experiment) -> dict[str, str]:
    """What decides a result beside configuration and seed: the code, and the policies that the configuration names."""
    return {CODE: training_code(experiment), LINKS: json.dumps(linked_policies(experiment))}


def policies_to_log(experiment: Experiment, trained: Trained) -> Iterator[PolicyToLog]:
    """The snapshots and the policy, each with the point of the learning curve that measured it."""
    game, arena = without_training_options(experiment.game), experiment.arena
    played = {NAME: game.spec.name, **game_options(game)}
    deals = DealsOf(played, experiment.trainer.evaluation_deals, purpose_seed(arena.seed, Purpose.CURVE))
    folders = sorted(trained.snapshots.glob("[0-9]*"), key=lambda folder: int(folder.name))
    steps = {row["decisions"]: int(row["iteration"]) * experiment.agent.decisions_per_iteration for row in trained.rows}
    known = {"experiment": experiment.name, "agent": experiment.agent_name, "seed": str(experiment.seed)}
    for folder in folders:
        tags = {**known, "decisions": folder.name}
        scored_at = steps.get(int(folder.name))
        yield PolicyToLog(folder, SNAPSHOT + folder.name, game_data(game), tags, scored_at=scored_at, deals=deals)
    measured = trained.decisions
    if trained.rows and trained.iterations < experiment.last_iteration:  # a plateau: the policy is the best so far
        measured = max(trained.rows, key=lambda row: row[MEAN_SCORE])["decisions"]
    tags = {**known, "decisions": str(trained.decisions)}
    yield PolicyToLog(trained.folder, POLICY, game_data(game), tags, scored_at=steps.get(measured), deals=deals)


def train_recorded(
    experiment: Experiment,
    store: Store,
    *,
    folder: Path,
    model_dir: Path,
    params: Mapping[str, Any],
    record: Callable[[Run, Trained], None],
    changed: str = "",
    report: Callable[[str], None] = print,
) -> Trained:
    """Train in `folder`, or resume there in the same run, and write the policy to `model_dir`.

    `record` logs further artifacts before the run is finished. `changed`: the options that differ from the experiment's
    recipe, a tag. Raises what `train` raises, and TrackingUnavailable.
    """
    check_device(experiment.trainer)
    game = experiment.game.spec.name
    store.check()  # an unavailable store is an error before anything is written
    name = f"{experiment.name} · seed {experiment.seed}"
    tags = {"kind": "training", **identity_tags(experiment)} | ({"changed": changed} if changed else {})
    with (
        lock_run_folder(folder),
        store.start_or_resume(folder, game, name, tags=tags, params=params) as run,
    ):
        print_run(store, f"attributes.run_id = '{run.id}'", report=report)
        report(f"plan:   {plan(experiment)}")
        with training_progress(experiment.name, experiment.last_iteration, report) as progress:
            trained = train(
                experiment,
                run_dir=folder,
                model_dir=model_dir,
                log=run,
                report=report,
                unfinished=run.resumed,
                tracked=run,
                progress=progress,
            )
        run.set_tags({DIGEST: trained.digest})
        if (sentence := not_learned(experiment, trained.rows)) is not None:
            run.set_tags({NOT_LEARNED: sentence})
            report(f"score:  {sentence}")
        for policy in policies_to_log(experiment, trained):
            run.log_policy(policy)
        record(run, trained)
        run.log_artifact(trained.checkpoint, "checkpoint")
    if not run.complete:
        hint = "run the same command again to send the rest; it trains nothing"
        raise RecordIncomplete(f"run {run.id}: the store has not received all of it; {hint}")
    return trained
