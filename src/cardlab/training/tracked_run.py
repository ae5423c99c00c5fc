"""A training that is recorded: one process in its folder and one run in the store, whatever cuts it off."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cardlab.tracking import Run, Store
from cardlab.training.experiment import Experiment, check_device
from cardlab.training.run import Trained, claim, train


def train_recorded(
    experiment: Experiment,
    store: Store,
    *,
    folder: Path,
    model_dir: Path,
    params: Mapping[str, Any],
    record: Callable[[Run, Trained], None],
    tell: Callable[[str], None] = print,
) -> Trained:
    """Train in `folder`, or go on there in the same run; the policy goes to `model_dir`.

    `record` writes and logs what else there is to keep, before the run counts as finished. Raises what `train` raises,
    and TrackingUnavailable.
    """
    check_device(experiment.trainer)
    game = experiment.game.spec.name
    store.check()  # a store that is away is an error before anything is written
    with claim(folder), store.start_or_resume(folder, game, experiment.name, params=params) as run:
        tell(f"run:    {run.id}")
        unfinished = run.resumed
        trained = train(
            experiment, run_dir=folder, model_dir=model_dir, log=run, tell=tell, unfinished=unfinished, claimed=True
        )
        run.set_tags({"kind": "training", "policy.digest": trained.digest})
        run.log_artifact(model_dir, "policy")
        record(run, trained)
        run.log_artifact(trained.checkpoint, "checkpoint")
    return trained
