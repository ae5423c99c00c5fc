"""One worker of a sweep: it opens the study and runs its trials, in any process on any machine."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from optuna.study import Study

from cardlab.core.parts import check_targets
from cardlab.experiments.config.build_experiment import build_with_values
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.space import Space
from cardlab.experiments.sweep.storages import StudyUnavailable, storage_address, storage_errors
from cardlab.experiments.sweep.study import find_study, open_study, run_trials
from cardlab.experiments.sweep.trials import RUN, TrialRunner
from cardlab.tracking import Store
from cardlab.training.experiment import training_code

SWEEP = "sweep"
CONFIG = "config"
CODE = "code"
"""Attributes of a study: its options, configuration and code digest of its experiment, for workers that join it."""


@dataclass(frozen=True)
class SweepPlan:
    """All that a worker needs; it can be pickled."""

    study: str
    options: SweepOptions
    config: Mapping[str, Any]
    root: Path
    address: str  # of the tracking store
    parent: str  # id of the MLflow run that trials are shown under
    code: str = ""  # digest of the code in the process that owns the study

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
    plan: SweepPlan, show: Callable[[str], None] = lambda _: None, after: Callable[[], object] = lambda: None
) -> None:
    """Run trials of the study until all are finished. Raises StudyUnavailable, or CodeChanged before the first one.

    `show` gets the status of the running trial; `after` is called after each trial.
    """
    training_code(replace(build_with_values(plan.config, {}), code=plan.code))
    runner = TrialRunner(plan.study, plan.options, plan.config, Store(plan.address, plan.root), plan.parent, show)
    with storage_errors(plan.storage):
        space = Space.parse(plan.options.space, plan.config)
        run_trials(plan.open(), space, plan.options, runner.run, after)


def load_plan(name: str, address: str | None, workers: int, store: Store) -> SweepPlan:
    """The plan of a study that another command started, perhaps on another machine. Raises StudyUnavailable."""
    with storage_errors(storage_address(address, store.root)):
        attributes = find_study(store.root, name, address).user_attrs
    if SWEEP not in attributes:
        raise StudyUnavailable(f"study {name}: its sweep has not begun; start it with cardlab sweep")
    check_targets(attributes[CONFIG], f"study {name}")
    options = replace(SweepOptions(**attributes[SWEEP]), storage=address, workers=workers, study=name)
    parent, code = (str(attributes.get(key, "")) for key in (RUN, CODE))
    return SweepPlan(name, options, attributes[CONFIG], store.root, store.address, parent, code)
