"""One worker of a sweep: it opens the study and runs its trials, in any process on any machine."""

import logging
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import optuna
from optuna.study import Study
from optuna.trial import TrialState
from rich.console import Console

from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.progress import Progress
from cardlab.experiments.sweep.retries import RETRY_OF
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.storages import storage_address, storage_errors
from cardlab.experiments.sweep.study import find_study, open_study, run_trials
from cardlab.experiments.sweep.trials import RUN, TrialRunner
from cardlab.tracking import Store, TrackingUnavailable

_logger = logging.getLogger(__name__)
SWEEP = "sweep"
CONFIG = "config"
"""Attributes of a study: its options, and the configuration of its experiment, for workers that join it."""


@dataclass(frozen=True)
class SweepPlan:
    """All that a worker needs; it can be pickled."""

    study: str
    options: SweepOptions
    config: Mapping[str, Any]
    root: Path
    address: str  # of the tracking store
    parent: str  # id of the MLflow run that trials are shown under

    @property
    def storage(self) -> str:
        """Address of the study's storage."""
        return storage_address(self.options.storage, self.root)

    @property
    def game(self) -> str:
        """Name of the game, and of its experiment in MLflow."""
        return str(self.config["game"]["name"])

    def open(self) -> Study:
        """The study. Raises StudyUnavailable, InvalidOption."""
        return open_study(self.root, self.study, self.options, int(self.config["trainer"]["evaluations"]))


def run_worker(
    plan: SweepPlan, console: Console, *, alone: bool = False, after: Callable[[], object] = lambda: None
) -> None:
    """Run trials of the study until all are finished; `after` is called after each. Raises StudyUnavailable.

    A worker that is `alone` in the terminal shows the status of its running trial.
    """
    store, options = Store(plan.address, plan.root), plan.options
    status = console.status("") if alone and console.is_terminal else None
    progress = Progress(console, options.trials, status)
    runner = TrialRunner(plan.study, options, plan.config, store, plan.parent, progress.show)

    def objective(trial: optuna.Trial, values: Values, index: int) -> list[float]:
        progress.begin(index + 1, values, trial.user_attrs.get(RETRY_OF))
        try:
            objectives, score = runner.run(trial, values)
        except optuna.TrialPruned as reason:
            progress.pruned(str(reason))
            raise
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        best = all(objectives[0] > earlier.values[0] for earlier in complete)
        progress.complete(options.metric, score.overall, objectives[1:], best=best)
        after()
        return objectives

    with storage_errors(plan.storage), status or nullcontext():
        study = plan.open()
        run_trials(study, Space.parse(options.space, plan.config), options, objective)


def load_plan(name: str, address: str | None, workers: int, store: Store) -> SweepPlan:
    """The plan of a study that another command started, perhaps on another machine. Raises StudyUnavailable."""
    with storage_errors(storage_address(address, store.root)):
        attributes = find_study(store.root, name, address).user_attrs
    options = replace(SweepOptions(**attributes[SWEEP]), storage=address, workers=workers, study=name)
    return SweepPlan(name, options, attributes[CONFIG], store.root, store.address, str(attributes.get(RUN, "")))


def close_killed_runs(store: Store, plan: SweepPlan, study: Study) -> None:
    """Set the MLflow runs of trials that no longer run to KILLED.

    If the store does not answer, they stay open until the sweep is resumed; no trial and no result is lost.
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
    except TrackingUnavailable as error:
        _logger.warning("runs of interrupted trials stay open until the sweep is resumed: %s", error)
