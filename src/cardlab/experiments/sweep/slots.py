"""Which trial comes next, so that any number of workers end at exactly as many trials as were asked for.

A study of `trials` trials has as many slots, and each trial stands for one. A worker that finds a free slot enqueues a
ticket for it, any worker takes any ticket, which Optuna gives out once. All storages number trials in one order, so of
two tickets for one slot the later always finds the earlier, and is withdrawn. A slot whose trial has failed is free
again: its values are tried once more. No lock is needed, so this holds for a journal, a database and a proxy alike.
"""

from collections.abc import Sequence
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial, Trial, TrialState

from cardlab.experiments.sweep.liveness import WORKER, end_trial
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.samplers import make_sampler
from cardlab.experiments.sweep.space import Space

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED)
"""States that count towards the total; a trial that failed or was cut off is done again."""
ATTEMPTS = 3
"""With the same values, before a slot gets others: some may cost more memory than there is."""
_SLOT = "slot"
_ATTEMPT = "attempt"
_WITHDRAWN = "withdrawn"
Point = dict[str, Any]
"""Parameters as Optuna keeps them."""


def finished(study: Study) -> list[FrozenTrial]:
    """The trials that count."""
    return study.get_trials(deepcopy=False, states=FINISHED)


def slot_of(trial: FrozenTrial | Trial) -> int:
    """The slot that a trial stands for."""
    return int(trial.user_attrs.get(_SLOT, trial.number))


def is_withdrawn(trial: FrozenTrial) -> bool:
    """Whether the trial gave way to another of its slot before it began; Optuna counts it as failed."""
    return _WITHDRAWN in trial.user_attrs


class Slots:
    """The slots of one study, as one worker sees them; `grid` are the points to be tried, where they are given."""

    def __init__(self, study: Study, space: Space, options: SweepOptions, grid: Sequence[Point] | None) -> None:
        self._study = study
        self._space = space
        self._options = options
        self._grid = grid

    def all_finished(self) -> bool:
        """Whether nothing is left to do."""
        done = finished(self._study)
        if len(done) >= self._options.trials:
            return True
        tried = [trial.params for trial in done]
        return self._grid is not None and all(point in tried for point in self._grid)

    def take(self, worker: str) -> Trial | None:
        """A trial to be run by `worker`, its sampler in place; None when all slots are taken for now."""
        trials = self._study.get_trials(deepcopy=False)
        if not any(trial.state == TrialState.WAITING for trial in trials) and not self._offer(trials):
            return None
        trial = self._study.ask()
        if _SLOT not in trial.user_attrs or self._is_taken(trial):
            trial.set_user_attr(_WITHDRAWN, True)
            end_trial(self._study, trial.number)
            return None
        trial.set_user_attr(WORKER, worker)
        self._study.sampler = make_sampler(self._options, slot_of(trial), int(trial.user_attrs[_ATTEMPT]))
        return trial

    def _offer(self, trials: Sequence[FrozenTrial]) -> bool:
        """Enqueue a ticket for the first free slot; False when there is none."""
        taken = {slot_of(trial) for trial in trials if trial.state != TrialState.FAIL}
        done = sum(trial.state in FINISHED for trial in trials)
        free = [slot for slot in range(self._options.trials) if slot not in taken]
        if not free or done >= self._options.trials:
            return False
        slot = free[0]
        failed = [trial for trial in trials if slot_of(trial) == slot and not is_withdrawn(trial)]
        point = self._point(slot, failed, trials)
        if point is None:
            return False
        self._study.enqueue_trial(point, user_attrs={_SLOT: slot, _ATTEMPT: len(failed) // ATTEMPTS})
        return True

    def _point(self, slot: int, failed: Sequence[FrozenTrial], trials: Sequence[FrozenTrial]) -> Point | None:
        """Parameters that are not the sampler's choice; None when the grid has no point left."""
        if self._grid is not None:
            tried = [_given(trial) for trial in trials if trial.state != TrialState.FAIL]
            return next((point for point in self._grid if point not in tried), None)
        if len(failed) % ATTEMPTS:
            return self._space.within(_given(failed[-1]))
        return self._space.baseline() if self._options.baseline and slot == 0 and not failed else {}

    def _is_taken(self, trial: Trial) -> bool:
        """Whether another trial stands for the slot of `trial`, which then gives way."""
        slot = slot_of(trial)
        return any(
            other.number != trial.number
            and slot_of(other) == slot
            and (other.state in FINISHED or (other.number < trial.number and other.state != TrialState.FAIL))
            for other in self._study.get_trials(deepcopy=False)
        )


def _given(trial: FrozenTrial) -> Point:
    """The parameters of a trial, those that it has not come to as well."""
    return {**trial.system_attrs.get("fixed_params", {}), **trial.params}
