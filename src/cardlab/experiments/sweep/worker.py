"""What one worker does: it opens the study of a plan and runs its trials, in whichever process it finds itself."""

import logging
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import optuna
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState
from rich.console import Console

from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.progress import Progress
from cardlab.experiments.sweep.slots import slot_of
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.storages import reachable
from cardlab.experiments.sweep.study import find_study, open_study, run_trials
from cardlab.experiments.sweep.trials import RUN, ComposeTrial, Trials
from cardlab.tracking import Store
from cardlab.tracking.client import TrackingUnavailable

_logger = logging.getLogger(__name__)
STUDIES = "studies"
SWEEP = "sweep"
CONFIG = "config"
"""Attributes of a study: its options and the experiment that it is about, for those who join it."""


@dataclass(frozen=True)
class Plan:
    """All that a worker needs to know; it can be pickled."""

    study: str
    options: SweepOptions
    config: Mapping[str, Any]
    compose_trial: ComposeTrial
    root: Path
    address: str  # of the tracking store
    parent: str  # id of the MLflow run that trials are shown under

    @property
    def folder(self) -> Path:
        """Where journals are, and locks."""
        return self.root / STUDIES

    @property
    def game(self) -> str:
        """Name of the game, which is that of MLflow's experiment."""
        return str(self.config["game"]["name"])

    def open(self) -> Study:
        """The study. Raises BrokenStudy."""
        return open_study(self.folder, self.study, self.options, int(self.config["trainer"]["evaluations"]))


def work_on(plan: Plan, console: Console, *, alone: bool = False, after: Callable[[], None] = lambda: None) -> None:
    """Run trials of the plan's study until all are finished; `after` is called behind each. Raises BrokenStudy.

    `alone` in the terminal, it may also show what the running trial is at.
    """
    store = Store(plan.address, plan.root)
    with reachable(plan.options.storage):
        study = plan.open()
        with Progress(console, plan.options.trials, live=alone) as progress:
            trials = Trials(plan.study, plan.options, plan.compose_trial, store, plan.parent, progress.tell)
            run_trials(
                study,
                Space.parse(plan.options.space, plan.config),
                plan.options,
                partial(_objective, study, trials, progress, after),
                folder=plan.folder,
                on_death=partial(close_run, store, plan),
            )


def joined_plan(
    name: str,
    address: str | None,
    workers: int,
    make_composer: Callable[[Mapping[str, Any]], ComposeTrial],
    store: Store,
) -> Plan:
    """The plan of a study that another command has begun, perhaps on another machine. Raises BrokenStudy."""
    with reachable(address):
        attributes = find_study(store.root / STUDIES, name, address).user_attrs
    options = replace(SweepOptions(**attributes[SWEEP]), storage=address, workers=workers, study=name)
    config = attributes[CONFIG]
    parent = str(attributes.get(RUN, ""))
    return Plan(name, options, config, make_composer(config), store.root, store.address, parent)


def close_run(store: Store, plan: Plan, trial: FrozenTrial) -> None:
    """End the MLflow run of a trial whose process is gone. It is looked for: its id may not have been kept in time."""
    condition = (
        f"tags.`sweep.study` = '{plan.study}' and tags.`sweep.trial` = '{trial.number}' "
        "and attributes.status = 'RUNNING'"
    )
    with _put_off(store):
        for orphan in store.client.search_runs([store.experiment_id(plan.game)], condition):
            run = store.start_run(plan.game, "", resume=orphan.info.run_id)
            run.set_tags({"sweep.state": "killed"})
            run.finish("KILLED")


def close_orphans(store: Store, plan: Plan, study: Study) -> None:
    """End the runs of all trials that are no longer running, whoever has failed them."""
    condition = f"tags.`sweep.study` = '{plan.study}' and tags.kind = 'trial' and attributes.status = 'RUNNING'"
    numbers: set[int] = set()
    with _put_off(store):
        open_runs = store.client.search_runs([store.experiment_id(plan.game)], condition)
        numbers = {int(run.data.tags["sweep.trial"]) for run in open_runs}
    for trial in study.get_trials(deepcopy=False):
        if trial.number in numbers and trial.state != TrialState.RUNNING:
            close_run(store, plan, trial)


@contextmanager
def _put_off(store: Store) -> Generator[None]:
    """What a store that is away is not told inside stays open until the study goes on: it costs no trial, no result."""
    try:
        with store.asked():
            yield
    except TrackingUnavailable as away:
        _logger.warning("runs of trials that were cut off stay open until the sweep goes on: %s", away)


def _objective(
    study: Study,
    trials: Trials,
    progress: Progress,
    after: Callable[[], None],
    trial: optuna.Trial,
    values: Values,
) -> list[float]:
    progress.begin(slot_of(trial) + 1, values)
    try:
        outcome = trials.run(trial, values)
    except optuna.TrialPruned as reason:
        progress.give_up(str(reason))
        raise
    complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    best = all(outcome.values[0] > earlier.values[0] for earlier in complete)
    progress.end(trials.options.metric, outcome, best=best)
    after()
    return outcome.values
