"""A training that is recorded as a run of the tracking store, however it is interrupted."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cardlab.tracking import RecordIncomplete, Run, Store
from cardlab.tracking.policy_lookup import DIGEST
from cardlab.training.experiment import Experiment, check_device
from cardlab.training.progress import training_progress
from cardlab.training.run import Trained, lock_run_folder, train


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
