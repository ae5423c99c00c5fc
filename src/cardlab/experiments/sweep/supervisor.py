"""Several workers on one study: they are replaced when they are killed, and stopped together."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from cardlab.core.child_processes import ChildKilled
from cardlab.evaluation.ray_pool import connected
from cardlab.experiments.sweep.process_workers import ProcessLauncher
from cardlab.experiments.sweep.ray_workers import RayLauncher
from cardlab.experiments.sweep.worker import SweepPlan

MAX_KILLED = 10
"""Workers that may be killed in a row while no trial is finished."""


def run_workers(
    plan: SweepPlan, update: Callable[[], int], show: Callable[[str], None], warn: Callable[[str], None]
) -> None:
    """Keep `sweep.workers` workers running until all trials are finished.

    `update` is called every second: it maintains the study, and returns the number of finished trials. `show` gets the
    status of a running trial. Raises the error of a worker, and ChildKilled. All workers are stopped in any case.
    """
    with _launcher(plan, show) as launcher:
        workers: list[Any] = [launcher.start() for _ in range(plan.options.workers)]
        finished, killed = update(), 0
        try:
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
def _launcher(plan: SweepPlan, show: Callable[[str], None]) -> Generator[ProcessLauncher | RayLauncher]:
    if plan.options.launcher == "ray":
        with connected("sweep.launcher") as ray:
            yield RayLauncher(plan, ray)
    else:
        yield ProcessLauncher(plan, show)
