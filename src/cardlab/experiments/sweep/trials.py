"""One trial: trainings with the proposed values, their strength, and the MLflow run that holds both."""

import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import optuna
from optuna.exceptions import UpdateFinishedTrialError

from cardlab.agents.registry import load_agent
from cardlab.core.options import InvalidOption
from cardlab.evaluation.intervals import PerDeal
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.recovery import RETRY_OF
from cardlab.experiments.sweep.scoring import BLOCKS, Strength, combine, cores_per_worker, play_references, sweep_arena
from cardlab.experiments.sweep.space import Values
from cardlab.experiments.sweep.trial_curves import PrefixedLog, WatchedCurve, give_up
from cardlab.games.catalogue import without_training_options
from cardlab.learners.base import TrainingDiverged
from cardlab.tracking import Run, Store
from cardlab.tracking.policy_lookup import DIGEST
from cardlab.training.callbacks import MetricsLog
from cardlab.training.experiment import Experiment
from cardlab.training.run import RunInUse, Trained, run_folder, train

ComposeTrial = Callable[[Mapping[str, Any]], Experiment]
"""From values by key to the experiment that has them; InvalidOption for one that cannot be."""
RUN = "mlflow_run"
"""Attribute of a trial and of a study: the id of its MLflow run."""
GIVEN_UP = (optuna.TrialPruned, UpdateFinishedTrialError)
"""What stops a trial without being a failure: it was pruned, or another process took it for dead and runs it again."""


@dataclass(frozen=True)
class Outcome:
    """What a trial came to."""

    values: list[float]  # what the study optimises: strength, and what it cost if that is asked for
    strength: Strength


@dataclass(frozen=True)
class Trials:
    """All that the trials of one worker share."""

    study: str
    options: SweepOptions
    compose_trial: ComposeTrial
    store: Store
    parent: str  # id of the run that trials are shown under
    report: Callable[[str], None]

    def run(self, trial: optuna.Trial, values: Values) -> Outcome:
        """Train and measure.

        Raises optuna.TrialPruned when the pruner says so, when learning diverged, and for values that are valid alone
        but not together.
        """
        try:
            experiment = self.compose_trial(values)
        except InvalidOption as refusal:
            raise optuna.TrialPruned(str(refusal)) from refusal
        tags = {"kind": "trial", "sweep.study": self.study, "sweep.trial": trial.number, "sweep.state": "running"}
        if RETRY_OF in trial.user_attrs:
            tags["sweep.retry_of"] = trial.user_attrs[RETRY_OF]
        with self.store.start_run(
            experiment.game.spec.name,
            f"{self.study} trial {first_attempt(trial)}",
            parent=self.parent,
            tags=tags,
            params=experiment.config,
            resume=trial.user_attrs.get(RUN),  # a retry continues the run of the attempt that was killed
            stopped_by=GIVEN_UP,
        ) as run:
            try:
                trial.set_user_attr(RUN, run.id)
                outcome = self._measure(trial, values, experiment.seed, run)
            except optuna.TrialPruned as reason:
                run.set_tags({"sweep.state": "pruned", "sweep.pruned": reason})
                raise
            except UpdateFinishedTrialError:  # the retry, in another process, has the run now
                status = self.store.client.get_run(run.id).info.status
                run.finish("FINISHED" if status == "FINISHED" else "KILLED")
                raise
            except BaseException as error:
                run.set_tags({"sweep.state": "failed" if isinstance(error, Exception) else "killed"})
                raise
            run.set_tags({"sweep.state": "complete"})
        return outcome

    def _measure(self, trial: optuna.Trial, values: Values, first_seed: int, run: Run) -> Outcome:
        trained: list[dict[str, PerDeal]] = []
        digests: list[str] = []
        seconds = 0.0
        for number in range(self.options.seeds):
            experiment = self.compose_trial({**values, "seed": first_seed + number})
            figures, spent = self._train(trial, experiment, number, run, digests)
            trained.append(figures)
            seconds += spent
        strength = combine(trained)
        value = strength.overall.low if self.options.objective == "low" else strength.overall.mean
        cost = {} if self.options.cost is None else {"sweep/cpu_seconds": seconds}
        run.log_metrics({"sweep/objective": value, **strength.figures(self.options.metric), **cost}, step=0)
        return Outcome([value, *cost.values()], strength)

    def _train(
        self, trial: optuna.Trial, experiment: Experiment, number: int, run: Run, digests: list[str]
    ) -> tuple[dict[str, PerDeal], float]:
        """Train once, in a folder that goes when it is done; the metric on each deal, and seconds of CPU.

        The policy's digest joins `digests`, those of the trial's earlier seeds. A retry resumes
        the training there, unless its cost is measured.
        """
        one = self.options.seeds == 1
        if self.options.workers > 1:
            threads = min(experiment.trainer.threads, cores_per_worker(self.options.workers))
            experiment = replace(experiment, trainer=replace(experiment.trainer, threads=threads))
        log: MetricsLog = run if one else PrefixedLog(run, f"seed_{experiment.seed}/")
        if self.options.prunes_curves and number == 0:
            log = WatchedCurve(log, trial, experiment, self.options.metric)
        folder = self._folder(trial, experiment)
        if self.options.cost is not None:
            _remove(folder)
        try:
            began = time.process_time()
            trained = self._run_training(trial, experiment, folder, log, run)
            seconds = time.process_time() - began
            digests.append(trained.digest)
            run.set_tags({DIGEST: " ".join(digests)})
            run.log_artifact(trained.folder, "policy" if one else f"policy/seed_{experiment.seed}")
            figures = self._play(trial, experiment, trained, number)
        except TrainingDiverged as error:
            run.set_tags({"sweep.diverged": error})
            _remove(folder)
            raise optuna.TrialPruned(str(error)) from error
        except optuna.TrialPruned:
            _remove(folder)
            raise
        _remove(trained.folder.parent)
        return figures, seconds

    def _run_training(
        self, trial: optuna.Trial, experiment: Experiment, folder: Path, log: MetricsLog, run: Run
    ) -> Trained:
        start = partial(train, experiment, log=log, report=self.report, tracked=run)
        try:
            return start(run_dir=folder, model_dir=folder / "policy")
        except RunInUse:  # by a process that stood still for so long that it was taken for dead
            aside = folder.with_name(f"{folder.name}-{trial.number}")
            return start(run_dir=aside, model_dir=aside / "policy")

    def _play(self, trial: optuna.Trial, experiment: Experiment, trained: Trained, number: int) -> dict[str, PerDeal]:
        """The match of a policy; with sweep.pruner=wilcoxon it is broken off when the trial is behind the best."""
        game = without_training_options(experiment.game)
        arena = sweep_arena(self.options, experiment.arena)
        agent = load_agent(game, str(trained.folder))
        if self.options.pruner != "wilcoxon":
            return play_references(game, agent, arena, self.options.metric)
        step = number * BLOCKS

        def watch(mean: float) -> None:
            nonlocal step
            trial.report(mean, step)
            step += 1
            if trial.should_prune():
                give_up(f"behind the best after {step} of {self.options.seeds * BLOCKS} blocks of deals")

        return play_references(game, agent, arena, self.options.metric, watch)

    def _folder(self, trial: optuna.Trial, experiment: Experiment) -> Path:
        """The folder of the trial's first attempt: a retry finds its checkpoint."""
        return run_folder(self.store.root / "runs" / "sweeps" / f"{self.study}-{first_attempt(trial)}", experiment)


def first_attempt(trial: optuna.Trial) -> int:
    """The number of a trial, of a retry that of the trial's first attempt."""
    return int(trial.user_attrs.get(RETRY_OF, trial.number))


def _remove(folder: Path) -> None:
    """Remove the folder of a training, and those around it unless another training is there."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.parent.rmdir()
        folder.parent.parent.rmdir()
