"""Workers of a sweep: in this process, in processes of this machine or in Ray tasks."""

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from optuna.study import Study

from cardlab.core.child_processes import STOP_SECONDS, ChildKilled, ChildProcess, stop, wait_for
from cardlab.core.parts import check_targets
from cardlab.evaluation.ray_pool import connected, working_directory
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


MAX_KILLED = 10
"""Workers that may be killed in a row while no trial is finished."""
_WAIT_SECONDS = 1.0


def run_workers(
    plan: SweepPlan, update: Callable[[], int], show: Callable[[str], None], warn: Callable[[str], None]
) -> None:
    """Keep `sweep.workers` workers running until all trials are finished.

    `update` is called every second: it maintains the study, and returns the number of finished trials. `show` gets the
    status of a running trial. Raises the error of a worker, and ChildKilled. All workers are stopped in any case.
    """
    with _launcher(plan, show) as launcher:
        workers: list[Any] = []
        try:
            workers.extend(launcher.start() for _ in range(plan.options.workers))
            finished, killed = update(), 0
            while workers:
                ended = launcher.wait(workers)
                before, finished = finished, update()
                killed = killed if finished == before else 0
                for worker in ended:
                    workers.remove(worker)
                    if launcher.was_killed(worker):
                        killed += 1
                        if killed > MAX_KILLED:
                            raise ChildKilled(f"study {plan.study}: {killed} workers were killed in a row (memory?)")
                        warn("a worker was killed: another is started")
                        workers.append(launcher.start())
        finally:
            launcher.stop(workers)
        update()


@contextmanager
def _launcher(plan: SweepPlan, show: Callable[[str], None]) -> "Generator[_Processes | _RayTasks]":
    if plan.options.launcher == "ray":
        with connected("sweep.launcher") as ray:
            yield _RayTasks(plan, ray)
    else:
        yield _Processes(plan, show)


@dataclass(frozen=True)
class _Processes:
    """Workers in processes of this machine, which also exit when the current process is killed."""

    plan: SweepPlan
    show: Callable[[str], None]  # the status of a worker's trial

    def start(self) -> ChildProcess:
        return ChildProcess.start("a worker", run_worker, self.plan)

    def wait(self, workers: list[ChildProcess]) -> list[ChildProcess]:
        """The workers that have ended, after _WAIT_SECONDS at most; the error of one is raised."""
        wait_for(workers, _WAIT_SECONDS)
        ended = [worker for worker in workers if not worker.process.is_alive()]  # before the last messages are read
        for worker in workers:
            worker.receive(self.show)
        return ended

    def was_killed(self, worker: ChildProcess) -> bool:
        """Whether a signal ended the process. Raises KeyboardInterrupt, and ChildKilled for another bad exit."""
        killed = (worker.process.exitcode or 0) < 0
        if not killed:
            worker.check_exit()
        return killed

    def stop(self, workers: list[ChildProcess]) -> None:
        stop(workers)


@dataclass(frozen=True)
class _RayTasks:
    """Workers as Ray tasks of one core each; a worker is a reference to its task."""

    plan: SweepPlan
    ray: Any  # the module, connected to a cluster

    def start(self) -> Any:
        task = self.ray.remote(_work).options(num_cpus=1, max_retries=0)  # another replaces it when its node is lost
        options = replace(self.plan.options, storage=self.plan.storage)  # OPTUNA_STORAGE is not set on the nodes
        return task.remote(replace(self.plan, options=options), os.getcwd())

    def wait(self, workers: list[Any]) -> list[Any]:
        return self.ray.wait(workers, timeout=_WAIT_SECONDS)[0]

    def was_killed(self, worker: Any) -> bool:
        """Whether the task lost its process or node; an error of the worker is raised."""
        try:
            self.ray.get(worker)
        except self.ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except self.ray.exceptions.RayError:
            return True
        return False

    def stop(self, workers: list[Any]) -> None:
        for worker in workers:
            self.ray.cancel(worker)
        if workers:
            self.ray.wait(workers, num_returns=len(workers), timeout=STOP_SECONDS)


def _work(plan: SweepPlan, folder: str) -> None:
    with working_directory(folder):
        run_worker(plan)
