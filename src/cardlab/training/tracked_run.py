"""A training that is recorded: one process in its folder and one run in the store, whatever cuts it off."""

import signal
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cardlab.tracking import RecordIncomplete, Run, Store
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
    with claim(folder), terminable(), store.start_or_resume(folder, game, experiment.name, params=params) as run:
        tell(f"run:    {run.id}")
        unfinished = run.resumed
        trained = train(
            experiment,
            run_dir=folder,
            model_dir=model_dir,
            log=run,
            tell=tell,
            unfinished=unfinished,
            claimed=True,
            tracked=run,
        )
        run.set_tags({"kind": "training", "policy.digest": trained.digest})
        run.log_artifact(model_dir, "policy")
        record(run, trained)
        run.log_artifact(trained.checkpoint, "checkpoint")
    if not run.complete:
        what = "the store has not received all of it; the same command sends the rest and trains nothing"
        raise RecordIncomplete(f"run {run.id}: {what}")
    return trained


@contextmanager
def terminable() -> Generator[None]:
    """Inside, SIGTERM and SIGHUP raise SystemExit with the status that a shell gives them, so that runs end as KILLED.

    A signal that is ignored, as SIGHUP is under nohup, stays ignored.
    """

    def stop(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        for number in numbers:
            if before[number] is not signal.SIG_IGN:
                signal.signal(number, stop)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
