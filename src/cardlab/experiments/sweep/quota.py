"""How a study ends at exactly as many trials as were asked for, however many workers there are.

Each worker looks for room before it begins a trial, so several may see the last place at once. Optuna numbers trials in
one order: a trial that begins is surplus when as many as were asked for come before it, not counting failed ones. Of
n + 1 trials that finish, the last would have seen the n others.
"""

from collections import Counter
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

from cardlab.experiments.sweep.recovery import RETRY_OF, retry

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)
"""States that count towards the total."""
PLANNED = "planned"
"""Attribute of the trials that a sweep itself enqueues: the baseline, the points of a grid. Each is run once."""
SURPLUS = "surplus"
"""Attribute of a trial that was one too many; its state is FAIL."""


class Surplus(Exception):
    """Too many trials have begun."""


def finished(study: Study) -> list[FrozenTrial]:
    """The trials that count."""
    return study.get_trials(deepcopy=False, states=FINISHED)


def is_done(study: Study, total: int, *, grid: bool) -> bool:
    """Whether all trials are finished; in a grid also when nothing is enqueued any more."""
    states = Counter(trial.state for trial in study.get_trials(deepcopy=False))
    open_trials = states[TrialState.RUNNING] + states[TrialState.WAITING]
    return sum(states[state] for state in FINISHED) >= total or (grid and not open_trials)


def has_room(study: Study, total: int, *, grid: bool) -> bool:
    """Whether another trial may begin; in a grid only an enqueued one."""
    states = Counter(trial.state for trial in study.get_trials(deepcopy=False))
    begun = sum(states[state] for state in (*FINISHED, TrialState.RUNNING))
    return begun < total and (states[TrialState.WAITING] > 0 or not grid)


def claim(study: Study, trial: Trial, total: int, *, grid: bool) -> tuple[int, int]:
    """The place of a trial that begins among those that count, and its own number in the order of proposals.

    A retry has the order of its first attempt, so an interruption changes no proposal. Raises Surplus.
    """
    trials = study.get_trials(deepcopy=False)
    own, point = trials[trial.number], enqueued_point(trials[trial.number])
    earlier = [each for each in trials[: trial.number] if each.state != TrialState.FAIL]
    twice = PLANNED in own.user_attrs and any(
        PLANNED in each.user_attrs and enqueued_point(each) == point for each in earlier
    )
    if len(earlier) >= total or twice or (grid and point is None):
        if point is not None and not twice:
            retry(study, own)  # it waits until there is room
        trial.set_user_attr(SURPLUS, True)  # for those who look at the study
        raise Surplus
    first = int(own.user_attrs.get(RETRY_OF, own.number))
    return len(earlier), first - sum(RETRY_OF in each.user_attrs for each in trials[:first])


def enqueued_point(trial: FrozenTrial) -> dict[str, Any] | None:
    """The parameters with which a trial was enqueued, if it was."""
    return trial.system_attrs.get("fixed_params")
