"""Workers of a sweep in processes of this machine."""

from collections.abc import Callable
from dataclasses import dataclass

from cardlab.core.child_processes import ChildProcess, stop, wait_for
from cardlab.experiments.sweep.worker import SweepPlan, run_worker

WAIT_SECONDS = 1.0


@dataclass(frozen=True)
class ProcessLauncher:
    """Starts workers as processes, which also exit when the current process is killed."""

    plan: SweepPlan
    show: Callable[[str], None]  # the status of a worker's trial

    def start(self) -> ChildProcess:
        """Start a process."""
        return ChildProcess.start("a worker", run_worker, self.plan)

    def wait(self, workers: list[ChildProcess]) -> list[ChildProcess]:
        """The workers that have ended, after WAIT_SECONDS at most; the error of one is raised."""
        wait_for(workers, WAIT_SECONDS)
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
        """Interrupt the workers, and kill those that do not exit."""
        stop(workers)
