"""A study: how it is opened, and the loop of a worker that runs its trials."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import optuna
from filelock import FileLock, Timeout
from optuna.exceptions import UpdateFinishedTrialError
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, Trial, TrialState

from cardlab.experiments.sweep.liveness import Watch, beating, end_trial, present
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.samplers import grid_points, make_pruner
from cardlab.experiments.sweep.slots import Slots
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.storages import BrokenStudy, open_storage, shown

ATTENDANCE = "workers"
"""Folder beside the journals, in which the workers of this machine hold their locks."""
_PAUSE = 0.5  # seconds between two looks at a study in which others run the last trials

Objective = Callable[[Trial, Values], list[float]]
"""What is optimised; raises optuna.TrialPruned for a trial that is given up."""
OnDeath = Callable[[FrozenTrial], None]
"""Told of each trial whose process is gone."""


class StudyInUse(RuntimeError):
    """Another command is at work on this study."""


@contextmanager
def owned(folder: Path, name: str) -> Generator[None]:
    """Inside, this is the one command on this machine that is in charge of the study `name`. Raises StudyInUse."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"{name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        hint = f"cardlab sweep worker sweep.study={name} joins it"
        raise StudyInUse(f"study {name}: another process is at work on it ({hint})") from error
    with lock:
        yield


def open_study(folder: Path, name: str, options: SweepOptions, points: int = 0) -> Study:
    """The study `name`, begun or gone on with; `points` are those of its learning curves. Raises BrokenStudy."""
    study = optuna.create_study(
        storage=open_storage(options.storage, folder, name),
        study_name=name,
        directions=[StudyDirection.MAXIMIZE] + [StudyDirection.MINIMIZE] * (options.cost is not None),
        load_if_exists=True,
    )
    study.pruner = make_pruner(options, points)
    return study


def find_study(folder: Path, name: str, address: str | None) -> Study:
    """The study `name`, which another command has begun. Raises BrokenStudy when there is none."""
    if address is None and not (folder / f"{name}.journal").is_file():
        raise BrokenStudy(f"study {name}: there is no {name}.journal in {folder}")
    try:
        return optuna.load_study(study_name=name, storage=open_storage(address, folder, name))
    except KeyError as error:
        raise BrokenStudy(f"study {name}: {shown(address or str(folder))} has no study of this name") from error


def watch_of(study: Study, folder: Path, options: SweepOptions) -> Watch:
    """How dead trials of this study are found."""
    return Watch(study, folder / ATTENDANCE, options.heartbeat if options.storage else None)


def run_trials(
    study: Study,
    space: Space,
    options: SweepOptions,
    objective: Objective,
    *,
    folder: Path,
    on_death: OnDeath = lambda _: None,
) -> None:
    """Run trials as one of any number of workers, until as many as asked for are finished, or the grid is done.

    Trials of killed workers are failed and done again. Whatever `objective` raises beside TrialPruned fails its trial
    and ends the work: nothing that is done is lost.
    """
    grid = grid_points(space, options) if options.sampler == "grid" else None
    slots, watch = Slots(study, space, options, grid), watch_of(study, folder, options)
    heartbeat = options.heartbeat if options.storage else None
    with present(folder / ATTENDANCE) as worker:
        while True:
            for trial in watch.fail_dead():
                on_death(trial)
            taken = slots.take(worker)
            if taken is not None:
                with beating(taken, heartbeat):
                    _run_trial(study, taken, space, objective)
            elif slots.all_finished():
                return
            else:
                time.sleep(_PAUSE)


def _run_trial(study: Study, trial: Trial, space: Space, objective: Objective) -> None:
    """Run it and tell what came of it; nothing is told of a trial that was taken for dead, and is being done again."""
    try:
        values = objective(trial, space.suggest(trial))
    except optuna.TrialPruned:
        end_trial(study, trial.number, state=TrialState.PRUNED)
    except UpdateFinishedTrialError:
        return
    except BaseException:
        end_trial(study, trial.number)
        raise
    else:
        end_trial(study, trial.number, values, TrialState.COMPLETE)
