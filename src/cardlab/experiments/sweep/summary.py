"""The result of a study so far, the best trial trained again with fresh seeds, and the MLflow run that shows both."""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from optuna.importance import get_param_importances
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from cardlab.core.messages import without_password
from cardlab.evaluation.deals import Purpose
from cardlab.evaluation.intervals import Estimate, estimate_metrics
from cardlab.evaluation.seed_statistics import mean_over_seeds
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.values import with_values
from cardlab.experiments.seeds import train_seeds
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.plots import OVERVIEW, study_plots
from cardlab.experiments.sweep.scoring import combine, metric_bounds, play_references, sweep_arena
from cardlab.experiments.sweep.space import Space, Values, values_text
from cardlab.experiments.sweep.storages import storage_address
from cardlab.experiments.sweep.study import FINISHED, can_rank, finished_trials, first_value, score_text
from cardlab.experiments.sweep.trials import CPU, INTERVAL, MEAN, RUN
from cardlab.experiments.sweep.worker import SweepPlan
from cardlab.games.make_game import without_training_options
from cardlab.tracking import Run, Store
from cardlab.tracking.experiment_tags import FINAL_SCORE
from cardlab.tracking.lineage import CPU_SECONDS, PARENT


@dataclass(frozen=True)
class Confirmation:
    """The best trial and its repetition."""

    trial: int
    own: float  # the mean score of the trial, which was the best of all
    seeds: tuple[int, ...]
    score: Estimate  # of the repetition, over seeds and deals

    @property
    def selection_bias(self) -> float:
        """How much of the trial's own score the repetition does not reach; negative if it exceeds it."""
        return self.own - self.score.mean

    def metrics(self) -> dict[str, float]:
        """Figures for the run of the sweep."""
        return {**estimate_metrics({"sweep/confirmed": self.score}), "sweep/selection_bias": self.selection_bias}

    def lines(self, metric: str) -> list[str]:
        """The result in two lines."""
        seeds = ", ".join(map(str, self.seeds))
        sure = self.own < self.score.low or self.own > self.score.high
        within = "" if sure else "; its own score lies in the interval, so this may be chance"
        return [
            f"{metric} {self.score}, {len(self.seeds)} fresh seeds ({seeds}), {self.score.deals:,} fresh deals",
            f"{self.selection_bias:.3f} of the {self.own:.3f} of trial {self.trial}{within}",
        ]


def confirmed_name(config: Mapping[str, Any]) -> str:
    """The name of the trainings that repeat the best trial."""
    return f"{config['name']}_confirm"


def confirm_best(
    trial: int, own: float, searched: Values, plan: SweepPlan, store: Store, report: Callable[[str], None]
) -> Confirmation:
    """Train the best trial with `sweep.confirm` seeds that no trial had, and play each policy on fresh deals.

    `own` is the mean score of the trial, `searched` its values. Finished trainings are not repeated. Raises what
    `train_seeds` raises.
    """
    options, config = plan.options, plan.config
    report(f"trial {trial} is trained again with {options.confirm} fresh seeds")
    values = with_values(config, {**searched, "name": confirmed_name(config)})
    first = int(config["seed"]) + options.seeds
    seeds = tuple(range(first, first + options.confirm))
    below = Store(store.address, store.root, {**store.tags, PARENT: plan.parent})
    trainings = train_seeds(values, seeds, below, report=report)
    experiment = build_experiment(values)
    game, arena = without_training_options(experiment.game), experiment.arena
    # The deals of the sweep have chosen the best trial, so that it is lucky on them too.
    arena = sweep_arena(replace(options, workers=1), arena, Purpose.CONFIRMATION)
    scores = [play_references(game, str(each.policy), arena, options.metric) for each in trainings]
    per_deal = [combine([score]).per_deal for score in scores]
    return Confirmation(trial, own, seeds, mean_over_seeds(per_deal, metric_bounds(game, options.metric)))


class SweepFailed(RuntimeError):
    """No trial is complete."""


@dataclass(frozen=True)
class ScoredTrial:
    """A complete trial."""

    number: int
    value: float
    mean: float  # score; `value` is the low end of its interval with sweep.objective=low
    interval: tuple[float, float] | None  # of 95 %
    cost: float | None
    values: Values
    run: str  # id of its MLflow run
    cpu_seconds: float | None = None  # of its trainings, evaluations included; None if unknown


@dataclass(frozen=True)
class SweepResult:
    """The best trial of a sweep."""

    study: str
    trials: int  # finished ones
    pruned: int
    best: ScoredTrial
    importances: dict[str, float]
    """Key of the best trial, or Optuna's parameter → share in the variance of the score; none for fewer than four."""
    pareto_front: tuple[ScoredTrial, ...] = ()  # best score first; only with a cost
    confirmation: Confirmation | None = None  # only with sweep.confirm


def sweep_result(study: Study, space: Space) -> SweepResult:
    """The trial with the best score; of equal ones, the first. Raises SweepFailed when no trial is complete."""
    trials = _best_first(study)
    if not trials:
        raise SweepFailed(f"study {study.study_name}: all of its trials were pruned")
    front = sorted(study.best_trials, key=lambda trial: -trial.values[0]) if len(study.directions) > 1 else []
    target = None if len(study.directions) == 1 else lambda trial: -trial.values[0]  # PED-ANOVA then minimises
    with warnings.catch_warnings(action="ignore"):  # about this target
        shares = get_param_importances(study, target=target) if can_rank(study) else {}
    names = {one.param: one.key for one in space.dimensions if one.param in trials[0].params}
    importances = {names.get(param, param): share for param, share in shares.items()}
    finished = len(finished_trials(study))
    return SweepResult(
        study.study_name,
        finished,
        finished - len(trials),
        _scored(trials[0], space),
        importances,
        tuple(_scored(trial, space) for trial in front),
    )


def trials_table(study: Study) -> str:
    """The finished trials as CSV, in the order of their numbers, without times and names of machines."""
    values = "value" if len(study.directions) == 1 else "values"
    table = study.trials_dataframe(("number", "state", values, "params"))
    return table[table["state"].isin([state.name for state in FINISHED])].to_csv(index=False)


class SummaryRun:
    """Keeps the MLflow run of a sweep up to date."""

    def __init__(self, study: Study, space: Space, options: SweepOptions, run: Run) -> None:
        self._study, self._space, self._options, self._run = study, space, options, run
        self._logged: list[int] = []  # numbers of trials, in the order of their steps
        self._confirmation: Confirmation | None = None

    def add_confirmation(self, confirmation: Confirmation) -> None:
        """Log the score of the best trial's repetition beside its own."""
        self._confirmation = confirmation
        self._run.replace_metrics(confirmation.metrics(), step=len(finished_trials(self._study)))

    def update(self) -> None:
        """Log the trials that are complete since the last call; step n is the n-th complete trial."""
        complete = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        trials = {trial.number: trial for trial in complete}
        new = [trial for trial in complete if trial.number not in self._logged]
        new.sort(key=lambda trial: (trial.datetime_complete is None, trial.datetime_complete, trial.number))
        for trial in new:
            self._logged.append(trial.number)
            step, so_far = len(self._logged), [trials[number] for number in self._logged]
            best = max(so_far, key=first_value)
            costs = dict(zip(["sweep/cpu_seconds"], trial.values[1:], strict=False))
            ends = zip(("low", "high"), best.user_attrs.get(INTERVAL, ()), strict=False)
            intervals = {f"interval/sweep/best_{end}": bound for end, bound in ends}
            scores = {"sweep/best": best.values[0], "sweep/objective": trial.values[0], FINAL_SCORE: best.values[0]}
            cpu = sum(each.user_attrs.get(CPU, 0.0) for each in so_far)
            self._run.log_metrics({**scores, **costs, **intervals, CPU_SECONDS: cpu}, step=step)
        if new:
            self._run.set_tags({"mlflow.note.content": "\n".join(self._description(()))})

    def finish(self) -> None:
        """Add the best configuration, the trials and the plots to the run."""
        self.update()
        if not self._logged:
            return
        result = sweep_result(self._study, self._space)
        counts = {"sweep.trials": result.trials, "sweep.pruned": result.pruned}
        self._run.set_tags({f"best.{key}": value for key, value in result.best.values.items()} | counts)
        config = with_values(self._space.config, result.best.values)
        self._run.log_text(json.dumps(config, indent=2, default=str), "best/config.json")
        self._run.log_text(trials_table(self._study), "study/trials.csv")
        plots: list[str] = []
        for name, figure in study_plots(self._study, self._headline(), result.importances):
            self._run.log_figure(figure, f"study/{name}.svg")
            plots.append(name)
        self._run.set_tags({"mlflow.note.content": "\n".join(self._description(plots))})

    def _description(self, plots: list[str] | tuple[()]) -> Iterator[str]:
        """The description of the run in Markdown: the best trial, plots, and where the study is."""
        yield self._image(OVERVIEW) + "\n" if OVERVIEW in plots else ""
        yield f"{self._headline()}\n\n`{values_text(self._space.decode(_best_first(self._study)[0].params))}`\n"
        if self._confirmation:
            confirmed, bias = self._confirmation.lines(self._options.metric)
            yield f"confirmed: {confirmed}; selection bias: {bias}\n"
        address = without_password(storage_address(self._options.storage, Path()))  # sqlite: from the project's root
        yield f"The study {self._study.study_name} in Optuna: `optuna-dashboard {address}`\n"
        yield from (self._image(name) for name in plots if name != OVERVIEW)

    def _headline(self) -> str:
        best = _best_first(self._study)[0]
        score = score_text(self._options.metric, best.values[0], best.user_attrs.get(INTERVAL))
        done = f"{len(finished_trials(self._study))} of {self._options.trials} trials done"
        return f"{done}; best: trial {best.number}, {score}"

    def _image(self, name: str) -> str:
        """A plot among the artifacts, as the MLflow UI serves it."""
        return f"![{name}](get-artifact?path=study/{name}.svg&run_uuid={self._run.id})"


def _best_first(study: Study) -> list[FrozenTrial]:
    trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return sorted(trials, key=lambda trial: (-trial.values[0], trial.number))


def _scored(trial: FrozenTrial, space: Space) -> ScoredTrial:
    cost = trial.values[1] if len(trial.values) > 1 else None
    interval: tuple[float, float] | None = trial.user_attrs.get(INTERVAL)
    values, run = space.decode(trial.params), trial.user_attrs.get(RUN, "")
    mean = trial.user_attrs.get(MEAN, trial.values[0])
    seconds = trial.user_attrs.get(CPU)
    return ScoredTrial(trial.number, trial.values[0], mean, interval, cost, values, run, seconds)
