"""Trials of killed workers: they fail, and are enqueued again.

Optuna's heartbeat does most of it. It leaves three gaps: it looks only when a new trial is asked for, it waits for the
whole grace period where the process is known to be gone, and a trial killed before its first heartbeat stays RUNNING.
"""

import os
import platform
import time
from contextlib import suppress
from copy import deepcopy
from functools import cache
from pathlib import Path

from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import RetryHeartbeatStaleTrialCallback, fail_stale_trials
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

MISSED_BEATS = 6
"""Heartbeats that a running trial may miss before it counts as stale."""
WORKER = "worker"
"""Attribute of a trial: HOST:PID:START:MACHINE of the process that runs it."""
RETRY_OF = "retry_of"
"""Attribute of a retry: the number of the trial's first attempt."""
ATTEMPTS = 3
"""Attempts with the same values, before other values are tried: some may need more memory than there is."""


def retry(study: Study, trial: FrozenTrial) -> None:
    """Enqueue a failed trial again, by Optuna's own callback."""
    again = deepcopy(trial)
    again.user_attrs = {RETRY_OF: trial.number, **trial.user_attrs}
    again.user_attrs.pop(WORKER, None)
    RetryHeartbeatStaleTrialCallback(max_retry=ATTEMPTS - 1)(study, again)


class Watch:
    """Looks for dead trials of a study, whose heart beats every `heartbeat` seconds."""

    def __init__(self, study: Study, heartbeat: float) -> None:
        self._study = study
        self._grace = MISSED_BEATS * heartbeat  # for a trial without a worker's name, which was killed as it began
        self._first_seen: dict[int, float] = {}

    def fail_dead(self) -> None:
        """Fail the trials whose process is gone, and enqueue each again."""
        fail_stale_trials(self._study)
        for trial in self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            since = self._first_seen.setdefault(trial.number, time.monotonic())
            worker: str | None = trial.user_attrs.get(WORKER)
            if is_alive(worker) is False if worker else time.monotonic() - since > self._grace:
                with suppress(ValueError, UpdateFinishedTrialError):  # another process was first
                    self._study.tell(trial.number, state=TrialState.FAIL)
                    retry(self._study, trial)


def worker_name(process: int | None = None) -> str:
    """The name of a process of this machine, by default of this one."""
    number = process or os.getpid()
    return f"{platform.node()}:{number}:{_started(number)}:{_machine()}"


def is_alive(worker: str) -> bool | None:
    """Whether a process of this machine runs; None for those of other machines, which only the heartbeat shows."""
    _, process, started, machine = worker.rsplit(":", 3)
    if not machine or machine != _machine():
        return None
    return started != "" and started == _started(process)


def _started(process: int | str) -> str:
    """When a process began, in ticks since the boot; empty for one that has ended: numbers are used again."""
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return fields[19] if fields[0] not in "ZX" else ""
    return ""


@cache
def _machine() -> str:
    """Where process numbers mean the same: this boot of this machine, and the container; empty without /proc."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"
    return ""
