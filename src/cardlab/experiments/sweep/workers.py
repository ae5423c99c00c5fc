"""Several workers on one study: processes of this machine, replaced when they are killed, stopped together."""

import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread

from rich.console import Console

from cardlab.core.exit_status import FAILED, INTERRUPTED
from cardlab.experiments.sweep.scoring import cores_per_worker
from cardlab.experiments.sweep.worker import Plan, work_on

MOST_KILLED = 10
"""Workers that are killed one after the other while no trial is finished, before the sweep gives up."""
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
_LOOK_SECONDS = 1.0
_STOP_SECONDS = 60.0  # to end a trial's run and leave; then it is killed


class WorkersKilled(RuntimeError):
    """Workers are killed again and again, or cannot begin."""


@dataclass(frozen=True)
class _Worker:
    process: SpawnProcess
    line: Connection  # errors come from its other end; its closing stops the worker


def run_workers(plan: Plan, finished: Callable[[], int], say: Callable[[str], None]) -> None:
    """Keep `plan.options.workers` processes at work until all trials are finished.

    `finished` is called every second or so: it looks after the study, and gives the number of finished trials. What a
    worker raises is raised here; WorkersKilled when the machine does not let them live. All are stopped in any case,
    also when this process is killed.
    """
    workers = [_start(plan) for _ in range(plan.options.workers)]
    done, killed = finished(), 0
    try:
        while workers:
            wait([worker.process.sentinel for worker in workers], timeout=_LOOK_SECONDS)
            now = finished()
            killed, done = (killed if now == done else 0), now
            for worker in [worker for worker in workers if not worker.process.is_alive()]:
                workers.remove(worker)
                if _was_killed(worker):
                    killed += 1
                    if killed > MOST_KILLED:
                        raise WorkersKilled(f"study {plan.study}: {killed} workers were killed in a row (memory?)")
                    say(f"worker {worker.process.pid} was killed: another takes its place")
                    workers.append(_start(plan))
    finally:
        _stop(workers)
    finished()


def _start(plan: Plan) -> _Worker:
    context = get_context("spawn")
    line, other_end = context.Pipe()
    process = context.Process(target=_main, args=(plan, other_end), name=f"{plan.study} worker")
    with _own_threads(cores_per_worker(plan.options.workers)):
        process.start()
    other_end.close()
    return _Worker(process, line)


@contextmanager
def _own_threads(count: int) -> Generator[None]:
    """Processes that are started inside have so many threads each: torch and OpenMP read it when they are imported."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, str(count)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _was_killed(worker: _Worker) -> bool:
    """Whether a worker that has ended was killed; what it raised is raised here."""
    code = worker.process.exitcode
    if code == 0:
        return False
    if worker.line.poll():
        with suppress(EOFError):  # nothing was sent
            raise worker.line.recv()
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code is not None and code > 0:  # it could not even begin, or say why
        raise WorkersKilled(f"a worker ended with status {code}; what it said stands above")
    return True


def _stop(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.line.close()
    for worker in workers:
        worker.process.join(_STOP_SECONDS)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _main(plan: Plan, line: Connection) -> None:
    """A worker process."""
    os.setpgrp()  # Ctrl-C in the terminal is for the sweep, which then stops each worker once
    signal.signal(signal.SIGINT, signal.default_int_handler)
    Thread(target=_end_with, args=(line,), daemon=True).start()
    try:
        work_on(plan, Console(stderr=True))
    except (KeyboardInterrupt, SystemExit):
        sys.exit(INTERRUPTED)
    except Exception as error:
        _send(line, error)
        sys.exit(FAILED)


def _end_with(line: Connection) -> None:
    """Interrupt this process when the one that started it closes the line, or is gone."""
    try:
        line.recv()
    except (EOFError, OSError):
        os.kill(os.getpid(), signal.SIGINT)


def _send(line: Connection, error: Exception) -> None:
    try:
        line.send(error)
    except Exception:  # one that cannot be pickled
        line.send(RuntimeError(f"{type(error).__name__}: {error}"))
