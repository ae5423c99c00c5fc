"""Workers of a sweep on the nodes of a Ray cluster."""

import os
from collections.abc import Callable
from typing import Any

from rich.console import Console

from cardlab.evaluation.ray_pool import connected, working_directory
from cardlab.experiments.sweep.worker import Plan, work_on
from cardlab.experiments.sweep.workers import MOST_KILLED, WorkersKilled

NOT_IN_DIGEST = "decides where trials run, not how"

_LOOK_SECONDS = 1.0
_STOP_SECONDS = 60.0


def run_on_ray(plan: Plan, finished: Callable[[], int], say: Callable[[str], None]) -> None:
    """Keep `plan.options.workers` tasks of one core each at work until all trials are finished, as `run_workers` does.

    A task whose process or node is lost is begun again elsewhere; its trial is done once more.
    """
    with connected("sweep.launcher") as ray:
        task: Any = ray.remote(_task).options(num_cpus=1, max_retries=0)
        here = os.getcwd()
        running: list[Any] = [task.remote(plan, here) for _ in range(plan.options.workers)]
        done, lost = finished(), 0
        try:
            while running:
                ready, running = ray.wait(running, timeout=_LOOK_SECONDS)
                now = finished()
                lost, done = (lost if now == done else 0), now
                for reference in ready:
                    if not _is_lost(ray, reference):
                        continue
                    lost += 1
                    if lost > MOST_KILLED:
                        raise WorkersKilled(f"study {plan.study}: {lost} workers were lost in a row")
                    say("a worker was lost: another takes its place")
                    running.append(task.remote(plan, here))
        finally:
            for reference in running:
                ray.cancel(reference)
            if running:
                ray.wait(running, num_returns=len(running), timeout=_STOP_SECONDS)
        finished()


def _is_lost(ray: Any, reference: Any) -> bool:
    """Whether a task that has ended lost its process; what it raised is raised here."""
    try:
        ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RayError:
        return True
    return False


def _task(plan: Plan, folder: str) -> None:
    with working_directory(folder):
        work_on(plan, Console(stderr=True))
