"""A study on disk: who may work on it, what killed processes left behind, and which trial comes next."""

import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from filelock import FileLock, Timeout
from optuna.exceptions import ExperimentalWarning
from optuna.samplers import BaseSampler, GPSampler, QMCSampler, RandomSampler, TPESampler
from optuna.storages import BaseStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

from cardlab.tuning.options import SweepOptions
from cardlab.tuning.space import Space, Values

LOCK_FILE_SUFFIX = ".lock"  # of Optuna's own lock, held for the time of one line
FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)
"""States that count towards the total; a trial that failed or was cut off is done again."""

Objective = Callable[[Trial, Values], float]
"""What is maximised; raises optuna.TrialPruned for a trial that is given up."""


class StudyInUse(RuntimeError):
    """Another process is working on this study."""


class BrokenStudy(RuntimeError):
    """The file of a study cannot be read."""


@contextmanager
def open_study(folder: Path, name: str) -> Generator[Study]:
    """The study `name`, begun or gone on with, in a journal in `folder`; for one process at a time.

    Since nobody else is at work, trials that are still RUNNING are those of killed processes: they are failed, and
    never counted. Raises StudyInUse or BrokenStudy.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _quiet()
    lock = FileLock(folder / f"{name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise StudyInUse(f"study {name}: another process is at work on it") from error
    with lock:
        study = optuna.create_study(
            storage=_journal(folder / f"{name}.journal"), study_name=name, direction="maximize", load_if_exists=True
        )
        for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            study.tell(trial.number, state=TrialState.FAIL)
        yield study


def finished(study: Study) -> list[FrozenTrial]:
    """The trials that count."""
    return study.get_trials(deepcopy=False, states=FINISHED)


def run_trials(study: Study, space: Space, options: SweepOptions, objective: Objective) -> None:
    """Run trials until as many as asked for are finished, or the grid is done.

    Whatever `objective` raises beside TrialPruned fails its trial and ends the sweep: nothing that is done is lost.
    """
    grid = _grid(space, options) if options.sampler == "grid" else None
    while len(done := finished(study)) < options.trials:
        if not study.get_trials(deepcopy=False, states=(TrialState.WAITING,)):
            params = _set_params(space, options, done, grid)
            if params is None:
                return
            if params:
                study.enqueue_trial(params)
        study.sampler = _sampler(options, len(done))
        _run_trial(study, study.ask(), space, objective)


def _run_trial(study: Study, trial: Trial, space: Space, objective: Objective) -> None:
    try:
        value = objective(trial, space.suggest(trial))
    except optuna.TrialPruned:
        study.tell(trial, state=TrialState.PRUNED)
    except BaseException:
        study.tell(trial, state=TrialState.FAIL)
        raise
    else:
        study.tell(trial, value)


def _set_params(
    space: Space, options: SweepOptions, done: list[FrozenTrial], grid: list[dict[str, Any]] | None
) -> dict[str, Any] | None:
    """Parameters of the next trial that are not the sampler's choice; None when the grid has no point left."""
    if grid is not None:
        tried = [trial.params for trial in done]
        return next((point for point in grid if point not in tried), None)
    return space.baseline() if options.baseline and not done else {}


def _grid(space: Space, options: SweepOptions) -> list[dict[str, Any]]:
    """All points in random order: of a grid that is too large for its trials, they are then a fair sample."""
    points = space.grid()
    return [points[place] for place in np.random.default_rng(options.seed).permutation(len(points))]


def _sampler(options: SweepOptions, num_finished: int) -> BaseSampler:
    """The sampler for the next trial.

    Made anew for each, from the seed and the number of finished trials: a generator that was seeded once would begin
    again when a sweep goes on, and propose once more what it has tried.
    """
    sequence = np.random.SeedSequence([options.seed, num_finished])
    seed = int(sequence.generate_state(1)[0])
    match options.sampler:
        case "tpe":
            return TPESampler(seed=seed)
        case "gp":
            return GPSampler(seed=seed)
        case "qmc":  # one sequence, whose place the study remembers
            return QMCSampler(scramble=True, seed=options.seed, independent_sampler=RandomSampler(seed))
        case _:  # of a grid all parameters are set
            return RandomSampler(seed)


def _journal(path: Path) -> BaseStorage:
    """The storage in this file, without what a killed process has left of a lock or of a line.

    A stale lock would be waited for, and the next line be glued to half a line.
    """
    path.with_name(path.name + LOCK_FILE_SUFFIX).unlink(missing_ok=True)
    if path.exists():
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with path.open("r+b") as file:
                file.truncate(whole)
    try:
        return JournalStorage(JournalFileBackend(str(path), JournalFileOpenLock(str(path))))
    except (ValueError, KeyError, TypeError) as error:
        raise BrokenStudy(f"{path}: is not the journal of a study ({error}): move it away to begin anew") from error


def _quiet() -> None:
    """Errors are raised; what Optuna says beside them is about its own doings."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.filterwarnings("ignore", category=ExperimentalWarning)
