"""A training that is recorded as a run of the tracking store, and training.json, its summary."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cardlab.core.files import write_atomically
from cardlab.tracking import RecordIncomplete, Run, Store
from cardlab.tracking.policy_lookup import DIGEST
from cardlab.training.experiment import Experiment, check_device
from cardlab.training.progress import training_progress
from cardlab.training.run import Trained, lock_run_folder, train

FORMAT = 2
TOTAL_FORMAT = 3


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


def total_summary(summaries: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Sums over the trainings of several seeds, and each by its seed. `origin` is that of the first."""
    sums = {key: sum(each[key] for each in summaries.values()) for key in ("decisions", "cpu_seconds")}
    return {
        "format": TOTAL_FORMAT,
        "decisions": sums["decisions"],
        "cpu_seconds": round(sums["cpu_seconds"], 1),
        "origin": next(iter(summaries.values()))["origin"],
        "seeds": {str(seed): summary for seed, summary in summaries.items()},
    }


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
    tags = {"kind": "training", "changed": changed} if changed else {"kind": "training"}
    with (
        lock_run_folder(folder),
        store.start_or_resume(folder, game, name, tags=tags, params=params) as run,
    ):
        report(f"run:    {run.id}")
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
        run.log_artifact(model_dir, "policy")
        record(run, trained)
        run.log_artifact(trained.checkpoint, "checkpoint")
    if not run.complete:
        hint = "run the same command again to send the rest; it trains nothing"
        raise RecordIncomplete(f"run {run.id}: the store has not received all of it; {hint}")
    return trained
