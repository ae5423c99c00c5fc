"""What one worker does: it opens the study of a plan and runs its trials, in whichever process it finds itself."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import optuna
from optuna.study import Study
from optuna.trial import TrialState
from rich.console import Console

from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.progress import Progress
from cardlab.experiments.sweep.recovery import RETRY_OF
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.storages import reachable, storage_address
from cardlab.experiments.sweep.study import find_study, open_study, run_trials
from cardlab.experiments.sweep.trials import RUN, ComposeTrial, Trials
from cardlab.tracking import Store, TrackingUnavailable

_logger = logging.getLogger(__name__)
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
    def storage(self) -> str:
        """Address of the study's storage."""
        return storage_address(self.options.storage, self.root)

    @property
    def game(self) -> str:
        """Name of the game, which is that of MLflow's experiment."""
        return str(self.config["game"]["name"])

    def open(self) -> Study:
        """The study. Raises BrokenStudy, InvalidOption."""
        return open_study(self.root, self.study, self.options, int(self.config["trainer"]["evaluations"]))


def work_on(plan: Plan, console: Console, *, alone: bool = False, after: Callable[[], None] = lambda: None) -> None:
    """Run trials of the plan's study until all are finished; `after` is called behind each. Raises BrokenStudy.

    `alone` in the terminal, it may also show what the running trial is at.
    """
    store = Store(plan.address, plan.root)
    with reachable(plan.storage):
        study = plan.open()
        with Progress(console, plan.options.trials, live=alone) as progress:
            trials = Trials(plan.study, plan.options, plan.compose_trial, store, plan.parent, progress.tell)
            space = Space.parse(plan.options.space, plan.config)
            run_trials(study, space, plan.options, partial(_objective, study, trials, progress, after))


def joined_plan(
    name: str,
    address: str | None,
    workers: int,
    make_composer: Callable[[Mapping[str, Any]], ComposeTrial],
    store: Store,
) -> Plan:
    """The plan of a study that another command has begun, perhaps on another machine. Raises BrokenStudy."""
    with reachable(storage_address(address, store.root)):
        attributes = find_study(store.root, name, address).user_attrs
    options = replace(SweepOptions(**attributes[SWEEP]), storage=address, workers=workers, study=name)
    config = attributes[CONFIG]
    parent = str(attributes.get(RUN, ""))
    return Plan(name, options, config, make_composer(config), store.root, store.address, parent)


def close_orphans(store: Store, plan: Plan, study: Study) -> None:
    """End as KILLED the MLflow runs of trials that no longer run, whoever has failed them.

    Those of a store that is away stay open until the sweep is resumed: that costs no trial and no result.
    """
    condition = f"tags.`sweep.study` = '{plan.study}' and tags.kind = 'trial' and attributes.status = 'RUNNING'"
    try:
        with store.wrap_errors():
            runs = store.client.search_runs([store.experiment_id(plan.game)], condition)
            running = study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
            alive = {str(trial.number) for trial in running} | {trial.user_attrs.get(RUN) for trial in running}
            for run in runs:
                if not alive & {run.data.tags["sweep.trial"], run.info.run_id}:
                    store.client.set_tag(run.info.run_id, "sweep.state", "killed")
                    store.client.set_terminated(run.info.run_id, "KILLED")
    except TrackingUnavailable as away:
        _logger.warning("runs of interrupted trials stay open until the sweep is resumed: %s", away)


def _objective(
    study: Study,
    trials: Trials,
    progress: Progress,
    after: Callable[[], None],
    trial: optuna.Trial,
    values: Values,
    place: int,
) -> list[float]:
    progress.begin(place + 1, values, trial.user_attrs.get(RETRY_OF))
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
