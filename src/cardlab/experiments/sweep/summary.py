"""The result of a study so far, and the MLflow run that shows it."""

import csv
import json
from dataclasses import dataclass
from io import StringIO

from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from cardlab.experiments.config.values import with_values
from cardlab.experiments.sweep.plots import study_plots
from cardlab.experiments.sweep.space import Space, Values
from cardlab.experiments.sweep.study import finished_trials
from cardlab.tracking import Run


class SweepFailed(RuntimeError):
    """No trial is complete."""


@dataclass(frozen=True)
class ParetoPoint:
    """A trial that no other beats in both objectives."""

    trial: int
    value: float
    cost: float
    values: Values


@dataclass(frozen=True)
class SweepResult:
    """The best trial of a sweep."""

    study: str
    value: float
    values: Values
    trials: int  # finished ones
    pareto_front: tuple[ParetoPoint, ...] = ()  # best score first; only with a cost


def sweep_result(study: Study, space: Space) -> SweepResult:
    """The trial with the best score; of equal ones, the first. Raises SweepFailed when no trial is complete."""
    trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    if not trials:
        raise SweepFailed(f"study {study.study_name}: all of its trials were pruned")
    best = max(trials, key=lambda trial: (trial.values[0], -trial.number))
    front = sorted(study.best_trials, key=lambda trial: -trial.values[0]) if len(study.directions) > 1 else []
    points = (ParetoPoint(each.number, each.values[0], each.values[1], space.decode(each.params)) for each in front)
    values = space.decode(best.params)
    return SweepResult(study.study_name, best.values[0], values, len(finished_trials(study)), tuple(points))


def trials_table(study: Study, space: Space) -> str:
    """The finished trials as CSV, in the order of their numbers, without times and names of machines."""
    keys = [dimension.key for dimension in space.dimensions]
    costs = ["cpu_seconds"] * (len(study.directions) - 1)
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", "state", "value", *costs, *keys])
    for trial in finished_trials(study):
        values = space.decode(trial.params)
        objectives = trial.values if trial.state == TrialState.COMPLETE else [""] * (1 + len(costs))
        cells = [values.get(key, "") for key in keys]
        texts = [json.dumps(cell) if isinstance(cell, list | dict) else cell for cell in cells]
        writer.writerow([trial.number, trial.state.name, *objectives, *texts])
    return text.getvalue()


class SummaryRun:
    """Keeps the MLflow run of a sweep up to date."""

    def __init__(self, study: Study, space: Space, run: Run) -> None:
        self._study = study
        self._space = space
        self._run = run
        self._logged = 0

    def update(self) -> None:
        """Log the trials that are complete since the last call; step n is the n-th complete trial."""
        best = -float("inf")
        for step, trial in enumerate(self._complete_trials(), start=1):
            best = max(best, trial.values[0])
            if step > self._logged:
                costs = dict(zip(["sweep/cpu_seconds"], trial.values[1:], strict=False))
                self._run.log_metrics({"sweep/objective": trial.values[0], "sweep/best": best, **costs}, step=step)
                self._logged = step

    def finish(self) -> None:
        """Add the best configuration, the trials and the plots to the run."""
        self.update()
        if not self._logged:
            return
        best = sweep_result(self._study, self._space)
        states = [trial.state for trial in finished_trials(self._study)]
        counts = {"sweep.trials": len(states), "sweep.pruned": states.count(TrialState.PRUNED)}
        self._run.set_tags({f"best.{key}": value for key, value in best.values.items()} | counts)
        config = with_values(self._space.config, best.values)
        self._run.log_text(json.dumps(config, indent=2, default=str), "best/config.json")
        self._run.log_text(trials_table(self._study, self._space), "study/trials.csv")
        for name, figure in study_plots(self._study):
            self._run.log_figure(figure, f"study/{name}.svg")

    def _complete_trials(self) -> list[FrozenTrial]:
        """In the order in which they ended."""
        trials = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return sorted(
            trials, key=lambda trial: (trial.datetime_complete is None, trial.datetime_complete, trial.number)
        )
