"""Runs one trial: trains, plays, logs to MLflow and reports to the pruner."""

import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import optuna
from optuna.exceptions import UpdateFinishedTrialError

from cardlab.core.messages import InvalidOption
from cardlab.evaluation.intervals import PerDeal
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.values import with_values
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.retries import RETRY_OF
from cardlab.experiments.sweep.scoring import (
    NUM_BLOCKS,
    combine,
    cores_per_worker,
    metric_bounds,
    play_references,
    sweep_arena,
)
from cardlab.experiments.sweep.space import Values, values_text
from cardlab.games.make_game import without_training_options
from cardlab.learners.base import TrainingDiverged
from cardlab.tracking import Run, Store
from cardlab.tracking.experiment_tags import AGAINST, DEALS, FINAL_SCORE
from cardlab.tracking.lineage import DIGEST, PRUNED_TRIAL
from cardlab.training.callbacks import MetricsLog
from cardlab.training.curve_evaluation import MEAN_SCORE
from cardlab.training.experiment import Experiment
from cardlab.training.learning_curve import ITERATION
from cardlab.training.run import RunInUse, Trained, run_folder, train

_WIN_RATE = "win_rate/"
CPU = "cpu_seconds"  # attribute of a complete trial: what its trainings took in its last attempt
RUN = "mlflow_run"  # attribute of a trial and of a study: the id of its MLflow run
MEAN = "mean"  # attribute of a complete trial: its mean score
INTERVAL = "interval"  # attribute of a complete trial: both ends of the 95 % interval of its score


@dataclass(frozen=True)
class PrefixedLog:
    """The curves of one of several trainings in one run."""

    log: MetricsLog
    prefix: str

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """Log the metrics with the prefix."""
        self.log.log_metrics({f"{self.prefix}{name}": value for name, value in metrics.items()}, step)


@dataclass(frozen=True)
class PruningLog:
    """Reports each point of a learning curve to the study, and prunes the trial when its pruner asks for it.

    Points are numbered from 1 to trainer.evaluations, so trials with iterations of other lengths can be compared.
    """

    log: MetricsLog
    trial: optuna.Trial
    experiment: Experiment
    metric: str
    is_last: bool  # no training of the trial follows

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """Log the metrics. Raises optuna.TrialPruned, which ends the training.

        A trial whose last training has ended is complete: pruning would save nothing.
        """
        self.log.log_metrics(metrics, step)
        if MEAN_SCORE not in metrics:
            return
        points = self.experiment.trainer.evaluations
        point = int(metrics[ITERATION]) * points // self.experiment.last_iteration
        self.trial.report(curve_score(metrics, self.metric), point)
        if self.trial.should_prune() and not (self.is_last and point == points):
            raise optuna.TrialPruned(f"behind the others at point {point} of {points} of the learning curve")


def curve_score(metrics: Mapping[str, float], metric: str) -> float:
    """The mean of the sweep's metric over the references, at one point of a learning curve."""
    if metric == "exploitability":
        return -(metrics[metric] if metric in metrics else metrics["nash_conv"])
    if metric != "win_rate":
        return metrics[MEAN_SCORE]
    rates = [rate for name, rate in metrics.items() if name.startswith(_WIN_RATE)]
    return sum(rates) / len(rates)


@dataclass(frozen=True)
class TrialRunner:
    """Runs the trials of one worker."""

    study: str
    options: SweepOptions
    config: Mapping[str, Any]
    store: Store
    parent: str  # id of the run that trials are shown under
    show: Callable[[str], None]  # the status of the running trial

    def run(self, trial: optuna.Trial, values: Values) -> list[float]:
        """Train and evaluate; the values of the study's objectives.

        Raises optuna.TrialPruned when the pruner asks for it, when training diverged, and for values that are valid
        alone but not together.
        """
        try:
            experiment = build_experiment(with_values(self.config, values))
        except InvalidOption as refusal:
            raise optuna.TrialPruned(str(refusal)) from refusal
        name = f"trial {trial.number}"
        tags = {"kind": "trial", "sweep.study": self.study, "sweep.trial": trial.number}
        searched = values_text(values)
        tags |= {"changed": searched, "mlflow.runName": name, "mlflow.note.content": f"`{searched}`"}
        if RETRY_OF in trial.user_attrs:
            tags["sweep.retry_of"] = trial.user_attrs[RETRY_OF]
        with self.store.start_run(
            experiment.game.spec.name,
            name,
            parent=self.parent,
            tags=tags,
            params=experiment.config,
            resume=self._killed_run(trial, experiment.game.spec.name),
            stopped_by=(optuna.TrialPruned, UpdateFinishedTrialError),
        ) as run:
            try:
                trial.set_user_attr(RUN, run.id)
                return self._evaluate(trial, values, experiment.seed, run)
            except optuna.TrialPruned as reason:
                run.set_tags({PRUNED_TRIAL: reason})
                raise
            except UpdateFinishedTrialError:  # another process failed the trial; its retry has the run now
                status = self.store.client.get_run(run.id).info.status
                run.finish("FINISHED" if status == "FINISHED" else "KILLED")
                raise

    def _killed_run(self, trial: optuna.Trial, game: str) -> str | None:
        """The run that a retry continues: also of an attempt that was killed before it noted the id of its run."""
        first = trial.user_attrs.get(RETRY_OF)
        if first is None or RUN in trial.user_attrs:
            return trial.user_attrs.get(RUN)
        condition = f"tags.`sweep.study` = '{self.study}' and tags.`sweep.trial` = '{first}'"
        found = self.store.search_runs(condition, game, limit=1)
        return found[0][1].info.run_id if found else None

    def _evaluate(self, trial: optuna.Trial, values: Values, first_seed: int, run: Run) -> list[float]:
        trainings: list[dict[str, PerDeal]] = []
        digests: list[str] = []
        seconds = 0.0
        seeds = range(first_seed, first_seed + self.options.seeds)
        experiments = [build_experiment(with_values(self.config, {**values, "seed": seed})) for seed in seeds]
        for number, experiment in enumerate(experiments):
            scores, spent = self._train(trial, experiment, number, run, digests)
            trainings.append(scores)
            seconds += spent
        score = combine(trainings, metric_bounds(experiments[0].game, self.options.metric))
        value = score.overall.low if self.options.objective == "low" else score.overall.mean
        cost = {} if self.options.cost is None else {"sweep/cpu_seconds": seconds}
        shown = {"sweep/objective": value, FINAL_SCORE: value}  # the second for the first column of MLflow's table
        run.log_metrics({**shown, **score.metrics(self.options.metric), **cost}, step=0)
        against = self.options.against(experiments[0].game, experiments[0].arena.references)
        run.set_tags({AGAINST: against, DEALS: self.options.deals})
        trial.set_user_attr(MEAN, score.overall.mean)
        trial.set_user_attr(INTERVAL, [score.overall.low, score.overall.high])
        trial.set_user_attr(CPU, seconds)
        return [value, *cost.values()]

    def _train(
        self, trial: optuna.Trial, experiment: Experiment, number: int, run: Run, digests: list[str]
    ) -> tuple[dict[str, PerDeal], float]:
        """Train once; the metric on each deal, and CPU seconds. The training's folder is removed at the end.

        The policy's digest is added to `digests`. A retry resumes the training, unless its cost is an objective.
        """
        one = self.options.seeds == 1
        if self.options.workers > 1:
            threads = min(experiment.trainer.threads, cores_per_worker(self.options.workers))
            experiment = replace(experiment, trainer=replace(experiment.trainer, threads=threads))
        log: MetricsLog = run if one else PrefixedLog(run, f"seed_{experiment.seed}/")
        if self.options.prunes_curves and number == 0:
            log = PruningLog(log, trial, experiment, self.options.metric, is_last=one)
        sweeps = self.store.root / "runs" / "sweeps"
        first = trial.user_attrs.get(RETRY_OF, trial.number)  # a retry uses the checkpoint of the first attempt
        folder = run_folder(sweeps / f"{self.study}-{first}", experiment)
        if self.options.cost is not None:
            _remove(folder)
        try:
            trained = self._train_in(folder, f"{folder.name}-{trial.number}", experiment, log, run)
            digests.append(trained.digest)
            run.set_tags({DIGEST: " ".join(digests)})
            run.log_artifact(trained.folder, "policy" if one else f"policy/seed_{experiment.seed}")
            scores = self._play(trial, experiment, trained, number)
        except TrainingDiverged as error:
            run.set_tags({"sweep.diverged": error})
            _remove(folder)
            raise optuna.TrialPruned(str(error)) from error
        except optuna.TrialPruned:
            _remove(folder)
            raise
        _remove(trained.folder.parent)
        return scores, trained.spent.cpu

    def _train_in(self, folder: Path, other: str, experiment: Experiment, log: MetricsLog, run: Run) -> Trained:
        start = partial(train, experiment, log=log, report=self.show, tracked=run)
        try:
            return start(run_dir=folder, model_dir=folder / "policy")
        except RunInUse:  # by a suspended process, whose trial became stale
            folder = folder.with_name(other)
            return start(run_dir=folder, model_dir=folder / "policy")

    def _play(self, trial: optuna.Trial, experiment: Experiment, trained: Trained, number: int) -> dict[str, PerDeal]:
        """The match of a policy; with sweep.pruner=wilcoxon it stops when the trial is behind the best."""
        game = without_training_options(experiment.game)
        arena = sweep_arena(self.options, experiment.arena)
        agent = str(trained.folder)
        if self.options.pruner != "wilcoxon":
            played = trained.folder.parent / "scores"  # for the retry of a killed trial
            return play_references(game, agent, arena, self.options.metric, played=played)
        step, num_chunks = number * NUM_BLOCKS, -(-arena.deals // (arena.chunk or arena.deals))

        def report(mean: float) -> None:
            nonlocal step
            trial.report(mean, step)
            step += 1
            is_last = step == number * NUM_BLOCKS + num_chunks and number == self.options.seeds - 1
            if not is_last and trial.should_prune():  # after the last block there is nothing to save
                blocks = self.options.seeds * NUM_BLOCKS
                raise optuna.TrialPruned(f"behind the best after {step} of {blocks} blocks of deals")

        return play_references(game, agent, arena, self.options.metric, report)


def _remove(folder: Path) -> None:
    """Remove the folder of a training, and its parents unless another training uses them."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.parent.rmdir()
        folder.parent.parent.rmdir()
