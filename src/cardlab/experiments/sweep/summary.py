"""What a study has found by now, and the MLflow run that shows it."""

import csv
import json
from dataclasses import dataclass
from io import StringIO
from typing import Any

from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from cardlab.experiments.sweep.pictures import draw_study
from cardlab.experiments.sweep.quota import finished
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.trials import ComposeTrial
from cardlab.tracking import Run


class SweepFailed(RuntimeError):
    """No trial came to an end."""


@dataclass(frozen=True)
class Point:
    """A trial that no other beats in everything that is asked for."""

    trial: int
    value: float
    cost: float
    values: Values


@dataclass(frozen=True)
class Best:
    """What a sweep found."""

    study: str
    value: float
    values: Values
    trials: int  # finished ones
    front: tuple[Point, ...] = ()  # strongest first; only with a cost


def complete_trials(study: Study) -> list[FrozenTrial]:
    """The trials that have a value, in the order in which they ended."""
    trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return sorted(trials, key=lambda trial: (trial.datetime_complete is None, trial.datetime_complete, trial.number))


def find_best(study: Study, space: Space) -> Best:
    """The strongest trial, of the first of those that are as strong. Raises SweepFailed when there is none."""
    trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    if not trials:
        raise SweepFailed(f"study {study.study_name}: all of its trials were pruned")
    best = max(trials, key=lambda trial: (trial.values[0], -trial.number))
    front = sorted(study.best_trials, key=lambda trial: -trial.values[0]) if len(study.directions) > 1 else []
    points = tuple(Point(each.number, each.values[0], each.values[1], space.decode(each.params)) for each in front)
    return Best(study.study_name, best.values[0], space.decode(best.params), len(finished(study)), points)


def trials_table(study: Study, space: Space) -> str:
    """The finished trials as CSV, in the order of their numbers; no times and no names of machines in it."""
    trials = finished(study)
    keys = [dimension.key for dimension in space.dimensions]
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    costs = ["cpu_seconds"] * (len(study.directions) - 1)
    writer.writerow(["trial", "state", "value", *costs, *keys])
    for trial in trials:
        values = space.decode(trial.params)
        measured = list(trial.values or [""]) if trial.state == TrialState.COMPLETE else [""] * (1 + len(costs))
        writer.writerow([trial.number, trial.state.name, *measured, *(_cell(values.get(key, "")) for key in keys)])
    return text.getvalue()


class Summary:
    """Keeps the parent run of a study up to date."""

    def __init__(self, study: Study, space: Space, compose_trial: ComposeTrial, parent: Run) -> None:
        self._study = study
        self._space = space
        self._compose_trial = compose_trial
        self._parent = parent
        self._logged = 0

    def update(self) -> None:
        """Log the trials that have ended since the last time: step n is the n-th that has a value."""
        best = -float("inf")
        for step, trial in enumerate(complete_trials(self._study), start=1):
            best = max(best, trial.values[0])
            if step > self._logged:
                costs = dict(zip(["sweep/cpu_seconds"], trial.values[1:], strict=False))
                self._parent.log_metrics({"sweep/objective": trial.values[0], "sweep/best": best, **costs}, step=step)
                self._logged = step

    def finish(self) -> None:
        """Leave the best configuration, the trials and the pictures in the run."""
        self.update()
        if not complete_trials(self._study):
            return
        best = find_best(self._study, self._space)
        states = [trial.state for trial in finished(self._study)]
        counts = {"sweep.trials": len(states), "sweep.pruned": states.count(TrialState.PRUNED)}
        self._parent.set_tags({f"best.{key}": value for key, value in best.values.items()} | counts)
        config = dict(self._compose_trial(best.values).config)
        self._parent.log_text(json.dumps(config, indent=2, default=str), "best/config.json")
        self._parent.log_text(trials_table(self._study, self._space), "study/trials.csv")
        for name, figure in draw_study(self._study):
            self._parent.log_figure(figure, f"study/{name}.svg")


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, list | dict) else value
