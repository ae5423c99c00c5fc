"""Who is at work on a study, and which of its trials belong to processes that are gone.

Optuna's own heartbeat is that of RDBStorage inside `Study.optimize`; journals and the gRPC proxy have none. Here every
worker holds a lock that the kernel lets go of with it, which says at once what happened to a process of this machine,
and where a storage serves several machines every trial that runs has a beat.
"""

import os
import platform
import re
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from uuid import uuid4

from filelock import FileLock, Timeout
from optuna.exceptions import UpdateFinishedTrialError
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

WORKER = "worker"
"""Attribute of a trial: the name of the worker that runs it."""
_BEAT = "beat"
_MISSED_BEATS = 6
_NAMELESS_SECONDS = 10.0
"""A trial has its worker's name milliseconds after it begins; one that has none for this long was killed in between."""


@contextmanager
def present(folder: Path) -> Generator[str]:
    """Inside, a worker of this process is known to be alive by the name that is given: MACHINE-PROCESS-CHANCE."""
    folder.mkdir(parents=True, exist_ok=True)
    machine = re.sub(r"[^\w]", "_", platform.node()) or "machine"
    name = f"{machine}-{os.getpid()}-{uuid4().hex[:8]}"
    lock = FileLock(_place(folder, name))
    lock.acquire(timeout=0)
    try:
        yield name
    finally:
        lock.release()
        _place(folder, name).unlink(missing_ok=True)


@contextmanager
def beating(trial: Trial, seconds: float | None) -> Generator[None]:
    """Inside, `trial` shows every so many `seconds` that its process is alive; not at all for None."""
    if seconds is None:
        yield
        return
    stop = Event()
    trial.set_user_attr(_BEAT, 0)
    thread = Thread(target=_beat, args=(trial, seconds, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(timeout=seconds)


class Watch:
    """Watches the running trials of a study from one process.

    Beats are counted, not dated: a trial is dead when its beat has stood still for six times `heartbeat` seconds by
    this process's own clock, so clocks of other machines may be wrong. `heartbeat` is None for a journal, where locks
    say all.
    """

    def __init__(self, study: Study, folder: Path, heartbeat: float | None) -> None:
        self._study = study
        self._folder = folder
        self._heartbeat = heartbeat
        self._seen: dict[int, tuple[object, float]] = {}

    def fail_dead(self) -> list[FrozenTrial]:
        """Fail the trials whose process is gone; those that nobody else has failed before."""
        running = self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        return [trial for trial in running if self._is_dead(trial) and end_trial(self._study, trial.number)]

    def _is_dead(self, trial: FrozenTrial) -> bool:
        worker: str | None = trial.user_attrs.get(WORKER)
        known = None if worker is None else _is_alive(self._folder, worker)
        if known is not None:
            return not known
        if worker is not None and self._heartbeat is None:
            return True  # its lock was here, and it is gone
        grace = _NAMELESS_SECONDS if self._heartbeat is None else _MISSED_BEATS * self._heartbeat
        sign = (worker, trial.user_attrs.get(_BEAT))
        before, since = self._seen.get(trial.number, (None, 0.0))
        if sign != before:
            self._seen[trial.number] = (sign, time.monotonic())
            return False
        return time.monotonic() - since > grace


def end_trial(
    study: Study, number: int, values: list[float] | None = None, state: TrialState = TrialState.FAIL
) -> bool:
    """Tell what became of a trial; False when somebody else has told before."""
    try:
        told = study.tell(number, values, state=state, skip_if_finished=True)
    except UpdateFinishedTrialError:
        return False
    return told.state == state


def _is_alive(folder: Path, worker: str) -> bool | None:
    """Whether a worker of this machine lives; None for one that has no lock here."""
    place = _place(folder, worker)
    if not place.exists():
        return None
    lock = FileLock(place)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    place.unlink(missing_ok=True)
    return False


def _place(folder: Path, worker: str) -> Path:
    return folder / f"{worker}.alive"


def _beat(trial: Trial, seconds: float, stop: Event) -> None:
    count = 0
    while not stop.wait(seconds):
        count += 1
        with suppress(Exception):  # a storage that is away: whoever trains will hear of it
            trial.set_user_attr(_BEAT, count)
