"""Workers of a sweep on the nodes of a Ray cluster."""

import os
from dataclasses import dataclass, replace
from typing import Any

from cardlab.core.child_processes import STOP_SECONDS
from cardlab.evaluation.ray_pool import working_directory
from cardlab.experiments.sweep.process_workers import WAIT_SECONDS
from cardlab.experiments.sweep.worker import SweepPlan, run_worker

NOT_IN_DIGEST = "decides where trials run, not how"


@dataclass(frozen=True)
class RayLauncher:
    """Starts workers as Ray tasks of one core each; a worker is a reference to its task."""

    plan: SweepPlan
    ray: Any  # the module, connected to a cluster

    def start(self) -> Any:
        """Start a task; another replaces it when its node is lost."""
        task = self.ray.remote(_work).options(num_cpus=1, max_retries=0)
        options = replace(self.plan.options, storage=self.plan.storage)  # OPTUNA_STORAGE is not set on the nodes
        return task.remote(replace(self.plan, options=options), os.getcwd())

    def wait(self, workers: list[Any]) -> list[Any]:
        """The tasks that have ended."""
        return self.ray.wait(workers, timeout=WAIT_SECONDS)[0]

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
        """Cancel the tasks."""
        for worker in workers:
            self.ray.cancel(worker)
        if workers:
            self.ray.wait(workers, num_returns=len(workers), timeout=STOP_SECONDS)


def _work(plan: SweepPlan, folder: str) -> None:
    with working_directory(folder):
        run_worker(plan)
