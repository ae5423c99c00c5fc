"""Workers of a sweep: in this process, in processes of this machine or in Ray tasks."""

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from optuna.study import Study

from cardlab.core.child_processes import STOP_SECONDS, ChildKilled, ChildProcess, stop, wait_for
from cardlab.core.files import load_json
from cardlab.core.messages import without_password
from cardlab.core.parts import check_targets
from cardlab.evaluation.ray_pool import connected, working_directory
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.sweep.group_option import chosen_options
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.space import Space
from cardlab.experiments.sweep.storages import StudyUnavailable, storage_address, storage_errors
from cardlab.experiments.sweep.study import find_study, open_study, run_trials
from cardlab.experiments.sweep.trials import RUN, TrialRunner
from cardlab.tracking import Store
from cardlab.tracking.store import none_if_missing
from cardlab.training.experiment import Experiment, training_code

CODE = "code"  # attribute of a study: the digest of the code of its trainings
PLAN = "study/sweep.json"
"""Artifact of the MLflow run of a study: its configuration and its options, with which the last command began it."""
CONFIG, SWEEP = "config", "sweep"
MAX_KILLED = 10  # workers that may be killed in a row while no trial is finished
_WAIT_SECONDS = 1.0


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

    def open(self) -> Study:
        """The study. Raises StudyUnavailable, InvalidOption."""
        return open_study(self.root, self.study, self.options, int(self.config["trainer"]["evaluations"]))


def run_worker(
    plan: SweepPlan, show: Callable[[str], None] = lambda _: None, after: Callable[[], object] = lambda: None
) -> None:
    """Run trials of the study until all are finished. Raises StudyUnavailable, or CodeChanged before the first one.

    `show` gets the status of the running trial; `after` is called after each trial.
    """
    training_code(replace(with_options(plan.config, plan.options.space), code=plan.code))
    runner = TrialRunner(plan.study, plan.options, plan.config, Store(plan.address, plan.root), plan.parent, show)
    with storage_errors(plan.storage):
        space = Space.parse(plan.options.space, plan.config)
        run_trials(plan.open(), space, plan.options, runner.run, after)


def with_options(config: Mapping[str, Any], space: Mapping[str, Any]) -> Experiment:
    """The experiment with the options that trials may choose in its configuration: digests then cover them."""
    options = chosen_options(space)
    experiment = build_experiment(config)
    return replace(experiment, config={**config, "options": options}) if options else experiment


def load_plan(name: str, address: str | None, workers: int, store: Store) -> SweepPlan:
    """The plan of a study that another command started, perhaps on another machine. Raises StudyUnavailable."""
    with storage_errors(storage_address(address, store.root)):
        study = find_study(store.root, name, address)
        parent, code = (str(study.user_attrs.get(key, "")) for key in (RUN, CODE))
    plan = read_plan(store, study)
    if not plan:
        where = f"the tracking store {without_password(store.address)} has no run of it"
        raise StudyUnavailable(f"study {name}: {where}; start it with cardlab sweep, and give MLFLOW_TRACKING_URI")
    entries: list[Any] = [*plan[SWEEP]["space"].values()]
    choices = [entry.get("choices") if isinstance(entry, dict) else entry for entry in entries]
    check_targets([plan[CONFIG], choices], f"study {name}")
    options = replace(SweepOptions(**plan[SWEEP]), storage=address, workers=workers, study=name)
    return SweepPlan(name, options, plan[CONFIG], store.root, store.address, parent, code)


def read_plan(store: Store, study: Study) -> dict[str, Any]:
    """The artifact PLAN of a study; empty if it has not begun, or its run is gone. Raises TrackingUnavailable."""
    run: str | None = study.user_attrs.get(RUN)
    if run is None or (store.file and not store.file.exists()):
        return {}
    with store.wrap_errors(), TemporaryDirectory() as scratch:
        found = none_if_missing(lambda: store.client.list_artifacts(run, str(Path(PLAN).parent)))
        if not any(each.path == PLAN for each in found or ()):
            return {}
        return load_json(Path(store.client.download_artifacts(run, PLAN, scratch)))


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
