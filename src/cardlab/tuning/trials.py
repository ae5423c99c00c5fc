"""One trial: trainings with the proposed values, their strength, and the MLflow run that holds both."""

import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna

from cardlab.agents.loading import load_agent
from cardlab.arena.intervals import PerDeal
from cardlab.games.catalogue import for_matches
from cardlab.learners.rounds import TrainingDiverged
from cardlab.tracking import Run, Store
from cardlab.training.experiment import Experiment
from cardlab.training.run import run_folder, train
from cardlab.tuning.options import SweepOptions
from cardlab.tuning.space import Values
from cardlab.tuning.strength import Strength, combine, play_references, sweep_arena

ComposeTrial = Callable[[Mapping[str, Any]], Experiment]
"""From values by key to the experiment that has them; InvalidOption for one that cannot be."""


@dataclass(frozen=True)
class Trials:
    """All that the trials of a sweep share."""

    study: str
    options: SweepOptions
    compose_trial: ComposeTrial
    store: Store
    parent: Run
    tell: Callable[[str], None]

    def run(self, trial: optuna.Trial, values: Values) -> tuple[float, Strength]:
        """What the study maximises, and all that was measured. Raises optuna.TrialPruned when learning diverged."""
        experiment = self.compose_trial(values)
        tags = {"kind": "trial", "sweep.study": self.study, "sweep.trial": trial.number}
        with self.store.start_run(
            experiment.game.spec.name,
            f"{self.study} trial {trial.number}",
            parent=self.parent.id,
            tags=tags,
            params=experiment.config,
            stopped_by=(optuna.TrialPruned,),
        ) as run:
            trial.set_user_attr("mlflow_run", run.id)
            seeds = range(experiment.seed, experiment.seed + self.options.seeds)
            trained = [self._train(self.compose_trial({**values, "seed": seed}), run) for seed in seeds]
            strength = combine(trained)
            value = strength.overall.low if self.options.objective == "low" else strength.overall.mean
            run.log_metrics({"sweep/objective": value, **strength.figures(self.options.metric)}, step=0)
        return value, strength

    def _train(self, experiment: Experiment, run: Run) -> dict[str, PerDeal]:
        """Train once, in a folder that goes when it is done; cut off, the same training goes on there."""
        folder = run_folder(self.store.root / "runs" / "sweeps", experiment)
        log = run if self.options.seeds == 1 else _PrefixedLog(run, f"seed_{experiment.seed}/")
        try:
            trained = train(experiment, run_dir=folder, model_dir=folder / "policy", log=log, tell=self.tell)
        except TrainingDiverged as error:
            run.set_tags({"sweep.diverged": error})
            _remove(folder)
            raise optuna.TrialPruned(str(error)) from error
        if self.options.seeds == 1:
            run.set_tags({"policy.digest": trained.digest})
        run.log_artifact(trained.folder, "policy" if self.options.seeds == 1 else f"policy/seed_{experiment.seed}")
        game = for_matches(experiment.game)
        arena = sweep_arena(self.options, experiment.arena)
        figures = play_references(game, load_agent(game, str(trained.folder)), arena, self.options.metric)
        _remove(folder)
        return figures


def _remove(folder: Path) -> None:
    """Remove the folder of a training, and the one around it unless another training is there."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.parent.rmdir()


@dataclass(frozen=True)
class _PrefixedLog:
    """The curves of one of several trainings in one run."""

    run: Run
    prefix: str

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """As Run.log_metrics."""
        self.run.log_metrics({f"{self.prefix}{name}": value for name, value in metrics.items()}, step)
