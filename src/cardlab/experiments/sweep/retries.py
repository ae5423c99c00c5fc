"""Retries of trials whose process was killed."""

import time
from contextlib import suppress
from copy import deepcopy
from datetime import datetime

from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import RetryHeartbeatStaleTrialCallback, fail_stale_trials
from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

from cardlab.core.child_processes import is_alive

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


def claim_proposal(study: Study, trial: Trial, total: int, *, grid: bool) -> int:
    """The index of a trial that begins among the proposals. Raises SurplusTrial when enough others have begun.

    A trial is surplus when `total` earlier ones have not failed: the surplus trial's proposal depends on the others. A
    retry has the proposal index of its first attempt, so that an interruption changes no proposal.
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
    return first - sum(RETRY_OF in each.user_attrs for each in trials[:first])
