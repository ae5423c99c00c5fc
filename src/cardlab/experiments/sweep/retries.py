"""Retries of killed trials and exact totals, where Optuna's heartbeat and its retry callback are not enough.

Optuna looks for stale trials only when a trial begins, waits for the grace period also where the process is known to be
gone, and misses a trial that was killed before its first heartbeat. It lets n workers begin n − 1 trials too many.
"""

import os
import platform
import time
from contextlib import suppress
from copy import deepcopy
from datetime import datetime

import psutil
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import RetryHeartbeatStaleTrialCallback, fail_stale_trials
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

MISSED_HEARTBEATS = 6  # then a running trial is stale
MAX_ATTEMPTS = 3  # with the same values: some need more memory than there is
WORKER = "worker"  # attribute of a trial: HOST:PID:START of its process
RETRY_OF = "retry_of"  # attribute of a retry: the number of the first attempt
SURPLUS = "surplus"  # attribute of a trial that failed because enough others had begun
_first_seen: dict[tuple[str, int, datetime | None], float] = {}  # running trial → seconds of the monotonic clock


class SurplusTrial(Exception):
    """Enough trials have begun."""


def retry(study: Study, trial: FrozenTrial) -> None:
    """Enqueue a failed trial again."""
    failed = deepcopy(trial)
    failed.user_attrs = {RETRY_OF: trial.number, **trial.user_attrs}
    failed.user_attrs.pop(WORKER, None)
    RetryHeartbeatStaleTrialCallback(max_retry=MAX_ATTEMPTS - 1)(study, failed)


def fail_dead_trials(study: Study, heartbeat: float) -> None:
    """Fail the running trials whose process is gone, and retry each; `heartbeat` is in seconds."""
    fail_stale_trials(study)
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        worker: str | None = trial.user_attrs.get(WORKER)
        key = study.study_name, trial.number, trial.datetime_start
        age = time.monotonic() - _first_seen.setdefault(key, time.monotonic())  # machines have different clocks
        if is_alive(worker) is False if worker else age > MISSED_HEARTBEATS * heartbeat:
            with suppress(ValueError, UpdateFinishedTrialError):  # another process was first
                study.tell(trial.number, state=TrialState.FAIL)
                retry(study, trial)


def claim_place(study: Study, trial: Trial, total: int, *, grid: bool) -> tuple[int, int]:
    """The index of a trial that begins among those that count, and its index among the proposals.

    A trial is surplus when `total` earlier ones have not failed: of total + 1 that finish, the last would have seen the
    others. A retry has the proposal index of its first attempt, so that an interruption changes no proposal.
    """
    trials = study.get_trials(deepcopy=False)
    own, earlier = trials[trial.number], [each for each in trials[: trial.number] if each.state != TrialState.FAIL]
    enqueued = "fixed_params" in own.system_attrs
    if len(earlier) >= total or (grid and not enqueued):
        if enqueued:
            retry(study, own)  # it waits until there is room
        trial.set_user_attr(SURPLUS, True)
        raise SurplusTrial
    first = int(own.user_attrs.get(RETRY_OF, own.number))
    return len(earlier), first - sum(RETRY_OF in each.user_attrs for each in trials[:first])


def worker_name(pid: int | None = None) -> str:
    """The name of a process of this machine, by default of the current one."""
    return f"{_host()}:{pid or os.getpid()}:{psutil.Process(pid).create_time():.0f}"


def is_alive(worker: str) -> bool | None:
    """Whether a process of this machine runs; None for one of another machine, which only its heartbeat shows."""
    host, pid, started = worker.rsplit(":", 2)
    if host != _host():
        return None
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(int(pid))
        return process.status() != psutil.STATUS_ZOMBIE and abs(process.create_time() - float(started)) < 2
    return False


def _host() -> str:
    """Where process ids mean the same: this machine, and the container if there is one."""
    with suppress(OSError):
        return f"{platform.node()}/{os.stat('/proc/self/ns/pid').st_ino}"
    return platform.node()
