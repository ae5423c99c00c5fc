"""A study in its storage, its sampler and pruner, and the loop in which a worker runs its trials."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.pruners import BasePruner, HyperbandPruner, MedianPruner, NopPruner, WilcoxonPruner
from optuna.samplers import BaseSampler, GPSampler, QMCSampler, RandomSampler, TPESampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, Trial, TrialState

from cardlab.core.child_processes import process_name
from cardlab.core.messages import without_password
from cardlab.experiments.sweep.group_option import chosen_options
from cardlab.experiments.sweep.options import SweepOptions, invalid_study
from cardlab.experiments.sweep.retries import WORKER, SurplusTrial, claim_proposal, fail_dead_trials, retry
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.storages import StudyUnavailable, open_storage, sqlite_path, storage_address

STARTUP_TRIALS = 4  # complete trials before the median pruner compares
STARTUP_BLOCKS = 6  # blocks of deals before Wilcoxon's test: five are never significant
MIN_TRIALS = 4  # complete trials that importances need
FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)  # states that count towards the total
PRUNED = "pruned"  # attribute of a pruned trial: the reason
_PAUSE = 0.5  # seconds between two looks at a study in which others run the last trials

Objective = Callable[[Trial, Values], list[float]]
"""The objectives of a trial with these values; raises optuna.TrialPruned for a trial that is pruned."""


def make_sampler(options: SweepOptions, order: int) -> BaseSampler:
    """The sampler of one trial, whose index among the proposals is `order`.

    Each trial has its own: a sampler that is seeded once would propose the first values again when the sweep resumes,
    and all workers would propose the same.
    """
    seed = int(np.random.SeedSequence([options.seed, order]).generate_state(1)[0])
    match options.sampler:
        case "tpe":
            return TPESampler(seed=seed, group=bool(chosen_options(options.space)))  # each option has its own keys
        case "gp":
            return GPSampler(seed=seed)
        case "qmc":  # one sequence, whose position is in the study
            return QMCSampler(scramble=True, seed=options.seed, independent_sampler=RandomSampler(seed))
        case _:  # all parameters of a grid are set
            return RandomSampler(seed)


def make_pruner(options: SweepOptions, points: int) -> BasePruner:
    """The pruner of a study whose learning curves have `points` points.

    The resource of Hyperband (Li et al. 2018) is the number of points; the median waits for a quarter of the curve.
    """
    match options.pruner:
        case "wilcoxon":
            return WilcoxonPruner(n_startup_steps=STARTUP_BLOCKS)
        case "median":
            return MedianPruner(n_startup_trials=STARTUP_TRIALS, n_warmup_steps=points // 4)
        case "hyperband":
            return HyperbandPruner(min_resource=1, max_resource=points, reduction_factor=3)
        case _:
            return NopPruner()


def open_study(root: Path, name: str, options: SweepOptions, points: int = 0) -> Study:
    """The study `name`, new or resumed; `points` is the number of points of its learning curves.

    Raises StudyUnavailable.
    """
    directions = [StudyDirection.MAXIMIZE] + [StudyDirection.MINIMIZE] * (options.cost is not None)
    storage = open_storage(storage_address(options.storage, root), options.heartbeat)
    study = optuna.create_study(storage=storage, study_name=name, directions=directions, load_if_exists=True)
    if not study.metric_names:
        study.set_metric_names(options.objective_names)
    study.pruner = make_pruner(options, points)
    study.sampler = make_sampler(options, 0)
    return study


def find_study(root: Path, name: str, address: str | None) -> Study:
    """The study `name` of a sweep, only to read it. Raises StudyUnavailable when there is none."""
    where = storage_address(address, root)
    missing = StudyUnavailable(f"study {name}: not found in {without_password(where)}")
    file = sqlite_path(where)
    if file is not None and not file.exists():
        raise missing  # to open it would make it
    try:
        study = optuna.load_study(study_name=name, storage=open_storage(where))
    except KeyError as error:
        raise missing from error
    return study


def check_played(study: Study) -> None:
    """Raise InvalidOption for a finished trial that no worker of a sweep has run: its value is no score."""
    for trial in finished_trials(study):
        if WORKER not in trial.user_attrs or not all(map(isfinite, trial.values or ())):
            allowed = f"a study of played trials: trial {trial.number} was added with its value; in another study, "
            raise invalid_study(study.study_name, f"{allowed}enqueue_trial can take its parameters")


def finished_trials(study: Study) -> list[FrozenTrial]:
    """The trials that count towards the total."""
    return study.get_trials(deepcopy=False, states=FINISHED)


def first_value(trial: FrozenTrial) -> float:
    """The score of a complete trial."""
    return trial.values[0]


def score_text(metric: str, value: float, interval: tuple[float, float] | None) -> str:
    """`points 0.905 [0.887, 0.923]`: a score with its 95 % interval, which an exact one lacks."""
    return f"{metric} {value:.3f}" + (
        f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval and len({*interval}) > 1 else ""
    )


def can_rank(study: Study) -> bool:
    """Whether there are enough different trials for the importance of each parameter."""
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return len(complete) >= MIN_TRIALS and len({first_value(trial) for trial in complete}) > 1


def enqueue_planned(study: Study, space: Space, options: SweepOptions) -> None:
    """Enqueue what no sampler proposes: the points of a grid, or the values of the experiment itself."""
    trials = study.get_trials(deepcopy=False)
    points: list[dict[str, Any]] = []
    if options.sampler == "grid":
        grid = space.grid()  # in random order, so that the trials of one that is too large are a fair sample
        order = np.random.default_rng(options.seed).permutation(len(grid))
        points = [grid[place] for place in order[: options.trials]]
    elif options.baseline and not trials:
        points = [space.baseline()]
    known = [trial.system_attrs.get("fixed_params") for trial in trials if trial.state != TrialState.FAIL]
    for point in points:
        if point not in known:
            study.enqueue_trial(point)


def run_trials(
    study: Study,
    space: Space,
    options: SweepOptions,
    objective: Objective,
    after: Callable[[], object] = lambda: None,
) -> None:
    """Run trials as one of any number of workers, until enough are finished or the grid is done.

    `after` is called after each trial. Trials of killed workers are run again. An error of `objective` other than
    TrialPruned fails its trial, enqueues it again and is raised.
    """
    grid = options.sampler == "grid"
    while True:
        fail_dead_trials(study, options.heartbeat)
        check_played(study)
        states = Counter(trial.state for trial in study.get_trials(deepcopy=False))
        finished = sum(states[state] for state in FINISHED)
        may_begin = states[TrialState.WAITING] > 0 or not grid
        if finished >= options.trials or not (may_begin or states[TrialState.RUNNING]):
            return
        if may_begin and finished + states[TrialState.RUNNING] < options.trials:
            _run_trial(study, space, options, objective)
            after()
        else:
            time.sleep(_PAUSE)


def _run_trial(study: Study, space: Space, options: SweepOptions, objective: Objective) -> None:
    """Run one trial in Optuna's loop, which sends its heartbeat.

    The result of a trial that another process has failed meanwhile is dropped: the trial is run again there.
    """
    numbers: list[int] = []
    results: list[Sequence[float]] = []
    failures: list[BaseException] = []

    def attempt(trial: Trial) -> Sequence[float]:
        numbers.append(trial.number)
        trial.set_user_attr(WORKER, process_name())
        proposal = claim_proposal(study, trial, options.trials, grid=options.sampler == "grid")
        study.sampler = make_sampler(options, proposal)
        try:
            space.check_enqueued(study.get_trials(deepcopy=False)[trial.number])
            results.append(objective(trial, space.suggest(trial)))
            return results[0]
        except optuna.TrialPruned as reason:
            trial.set_user_attr(PRUNED, str(reason))
            raise
        except UpdateFinishedTrialError:
            raise
        except Exception as error:
            failures.append(error)
            raise
        except BaseException as stop:  # Lightning turns Ctrl-C into SystemExit; Optuna would leave the trial RUNNING
            failures.append(KeyboardInterrupt())
            raise failures[0] from stop

    try:
        study.optimize(attempt, n_trials=1, catch=SurplusTrial)
    except BaseException as error:
        trials = [study.get_trials(deepcopy=False)[number] for number in numbers]
        interrupted = not isinstance(error.__context__ or error, Exception)  # Optuna raises an UnboundLocalError then
        if results and interrupted and trials[0].state == TrialState.RUNNING:  # the result is not noted yet
            study.tell(trials[0].number, results[0])
            raise KeyboardInterrupt from None
        if failures and error is failures[0]:
            retry(study, trials[0])
        if failures:
            raise failures[0] from None
        was_failed = isinstance(error, ValueError | AssertionError | UpdateFinishedTrialError)
        if not (was_failed and trials and trials[0].state == TrialState.FAIL):
            raise
