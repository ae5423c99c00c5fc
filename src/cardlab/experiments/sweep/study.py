"""A study: how it is opened, and the loop of a worker that runs its trials."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import optuna
from optuna.exceptions import DuplicatedStudyError, UpdateFinishedTrialError
from optuna.study import Study, StudyDirection
from optuna.trial import Trial, TrialState

from cardlab.core.options import InvalidOption
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.quota import PLANNED, Surplus, claim, enqueued_point, has_room, is_done
from cardlab.experiments.sweep.recovery import WORKER, Watch, retry, worker_name
from cardlab.experiments.sweep.samplers import grid_points, make_pruner, make_sampler
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.storages import BrokenStudy, open_storage, shown, storage_address

MADE_BY = "made_by"
"""Attribute of a study that a sweep has made."""
_PAUSE = 0.5  # seconds between two looks at a study in which others run the last trials

Objective = Callable[[Trial, Values, int], list[float]]
"""What is optimised, given a trial, its values and its place; raises optuna.TrialPruned for a trial that is pruned."""


def open_study(root: Path, name: str, options: SweepOptions, points: int = 0) -> Study:
    """The study `name`, new or resumed; `points` are those of its learning curves.

    Raises BrokenStudy, and InvalidOption for a study that was not made by a sweep or optimises something else.
    """
    directions = [StudyDirection.MAXIMIZE] + [StudyDirection.MINIMIZE] * (options.cost is not None)
    storage = open_storage(storage_address(options.storage, root), options.heartbeat)
    try:
        study = optuna.create_study(storage=storage, study_name=name, directions=directions)
        study.set_metric_names(options.objective_names)
        study.set_user_attr(MADE_BY, "cardlab")
    except DuplicatedStudyError:
        study = optuna.load_study(storage=storage, study_name=name)
        _check_objectives(study, directions, options.objective_names)
    study.pruner = make_pruner(options, points)
    study.sampler = make_sampler(options, 0)
    return study


def find_study(root: Path, name: str, address: str | None) -> Study:
    """The study `name`, which a sweep has made; only to read it. Raises BrokenStudy when there is none."""
    where = storage_address(address, root)
    try:
        study = optuna.load_study(study_name=name, storage=open_storage(where))
    except KeyError as error:
        raise BrokenStudy(f"study {name}: {shown(where)} has no study of this name") from error
    if not _made_by_sweep(study):
        raise BrokenStudy(f"study {name}: was not made by cardlab sweep")
    return study


def enqueue_planned(study: Study, space: Space, options: SweepOptions) -> None:
    """Enqueue what a sweep runs whatever the sampler proposes: the points of a grid, or first of all the baseline."""
    trials = study.get_trials(deepcopy=False)
    points: list[dict[str, Any]] = []
    if options.sampler == "grid":
        tried = [enqueued_point(trial) for trial in trials if trial.state != TrialState.FAIL]
        points = [point for point in grid_points(space, options)[: options.trials] if point not in tried]
    elif options.baseline and not trials:
        points = [space.baseline()]
    for point in points:
        study.enqueue_trial(point, user_attrs={PLANNED: True})


def run_trials(study: Study, space: Space, options: SweepOptions, objective: Objective) -> None:
    """Run trials as one of any number of workers, until as many as asked for are finished, or the grid is done.

    Trials of killed workers are run again. What `objective` raises beside TrialPruned fails its trial, which is
    enqueued again, and ends the work: nothing that is done is lost.
    """
    watch = Watch(study, options.heartbeat)
    grid = options.sampler == "grid"
    watch.fail_dead()
    while not is_done(study, options.trials, grid=grid):
        if has_room(study, options.trials, grid=grid):
            _run_trial(study, space, options, objective)
        else:
            time.sleep(_PAUSE)
        watch.fail_dead()


def _run_trial(study: Study, space: Space, options: SweepOptions, objective: Objective) -> None:
    """Run one trial by Optuna's loop, whose heartbeat it then has.

    Nothing is reported of a trial that another process has failed meanwhile, since it is being run again.
    """
    numbers: list[int] = []
    failures: list[BaseException] = []

    def attempt(trial: Trial) -> Sequence[float]:
        numbers.append(trial.number)
        trial.set_user_attr(WORKER, worker_name())
        place, order = claim(study, trial, options.trials, grid=options.sampler == "grid")
        study.sampler = make_sampler(options, order)
        try:
            space.check_enqueued(study.get_trials(deepcopy=False)[trial.number])
            return objective(trial, space.suggest(trial), place)
        except (optuna.TrialPruned, UpdateFinishedTrialError):
            raise
        except Exception as failure:
            failures.append(failure)
            raise
        except BaseException as stop:  # Lightning makes SystemExit of Ctrl-C, with which Optuna leaves a trial RUNNING
            failures.append(KeyboardInterrupt())
            raise failures[0] from stop

    try:
        study.optimize(attempt, n_trials=1, catch=Surplus)
    except BaseException as error:
        if failures and error is failures[0]:
            retry(study, study.get_trials(deepcopy=False)[numbers[0]])
            raise
        if failures:
            raise failures[0] from error
        lost = isinstance(error, ValueError | AssertionError | UpdateFinishedTrialError)
        if not (numbers and lost and study.get_trials(deepcopy=False)[numbers[0]].state == TrialState.FAIL):
            raise


def _check_objectives(study: Study, directions: list[StudyDirection], names: list[str]) -> None:
    """InvalidOption for a study that a sweep has not made, or whose values are others."""
    if not _made_by_sweep(study):
        allowed = "another name: this study was not made by cardlab sweep"
        raise InvalidOption("sweep.study", study.study_name, allowed)
    found, wanted = _described(study.metric_names or [], study.directions), _described(names, directions)
    if found != wanted:
        raise InvalidOption("sweep.study", study.study_name, f"another name: this study has {found}, not {wanted}")


def _described(names: Sequence[str], directions: Sequence[StudyDirection]) -> str:
    return " and ".join(f"{name} ({way.name.lower()})" for name, way in zip(names, directions, strict=False))


def _made_by_sweep(study: Study) -> bool:
    """Whether a sweep has made the study; one that another process makes at this moment is waited for."""
    for _ in range(4):
        if MADE_BY in study.user_attrs:
            return True
        time.sleep(_PAUSE)
    return False
