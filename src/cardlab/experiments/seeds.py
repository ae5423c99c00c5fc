"""Trainings of one configuration with several seeds, side by side, under one MLflow run that has their mean curve.

The training of a seed is that of `seed=N` alone: same folder, checkpoint and result. A finished one is not repeated, so
seeds can be added later.
"""

import csv
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from cardlab.core.child_processes import ChildProcess, stop, wait_for
from cardlab.core.files import write_atomically
from cardlab.core.options import InvalidOption, check_whole
from cardlab.evaluation.seed_curves import Band, band_over_seeds
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.tracking import Run, Store
from cardlab.tracking.policy_lookup import policy_filter
from cardlab.tracking.run_state import load_run_state
from cardlab.training.experiment import Experiment

if TYPE_CHECKING:
    from cardlab.training.run import Trained

NOT_IN_DIGEST = "each training is that of its seed alone"

MOST_SEEDS = 1000
_WAIT_SECONDS = 1.0
_PARENT = "mlflow.parentRunId"

Report = Callable[[str], None]
Curve = Mapping[str, NDArray[np.float64]]
"""Column of curve.csv → its values [points]; NaN where there is none."""


@dataclass(frozen=True)
class SeedTraining:
    """The folder of the training with one seed."""

    seed: int
    folder: Path

    @property
    def policy(self) -> Path:
        """The folder of the policy."""
        return self.folder / "policy"

    @property
    def curve(self) -> Path:
        """The learning curve."""
        return self.folder / "curve.csv"

    @property
    def is_finished(self) -> bool:
        """Whether policy and curve are there and the run in MLflow is complete."""
        return self.curve.is_file() and self.policy.is_dir() and load_run_state(self.folder) is None

    def read_curve(self) -> Curve:
        """The columns of the learning curve."""
        with self.curve.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return {name: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0]} if rows else {}


def parse_seeds(value: object, first: int) -> tuple[int, ...]:
    """The seeds of `seeds=3` (first, first + 1, first + 2) or `seeds=[1,2,3]`. Raises InvalidOption."""
    if not isinstance(value, list | tuple):
        check_whole("seeds", value, 1, MOST_SEEDS)
        return tuple(range(first, first + cast(int, value)))
    seeds = tuple(cast(Sequence[int], value))
    for seed in seeds:
        check_whole("seeds", seed, 0, 2**63 - 1)
    if not seeds or len(set(seeds)) < len(seeds):
        raise InvalidOption("seeds", value, "a number of seeds, or a list of different ones such as [1,2,3]")
    return seeds


def train_seeds(
    config: Mapping[str, Any], seeds: Sequence[int], store: Store, *, changed: str = "", report: Report = print
) -> list[SeedTraining]:
    """Train with each of `seeds`, or resume, as many at a time as there are cores for.

    `config` is that of an experiment. Lines of a training are reported as `seed N: …`. An error of one is raised when
    the others are finished; Ctrl-C interrupts all. Raises what `train_recorded` raises, and ChildKilled.
    """
    first = build_experiment({**config, "seed": seeds[0]})
    group = f"{first.name}_{_digest(config)}"
    cores = len(os.sched_getaffinity(0)) // (first.trainer.threads * first.trainer.processes)
    with _start_group_run(store, first, seeds, group, changed) as run:
        shared = (store.address, store.root, {"group": group, _PARENT: run.id}, changed)
        jobs = {f"seed {seed}": ({**config, "seed": seed}, *shared) for seed in seeds}
        _run_side_by_side(jobs, max(1, cores), report)
        trainings = [find_training({**config, "seed": seed}, store.root) for seed in seeds]
        _log_mean_curve(run, [training.read_curve() for training in trainings])
    return trainings


def train_seed(
    config: Mapping[str, Any], address: str, root: Path, tags: Mapping[str, str], changed: str, report: Report
) -> None:
    """Train with the seed of `config`, or resume; a finished training only gets the tags."""
    from cardlab.training.recorded_training import train_recorded  # noqa: PLC0415 (imports Lightning)
    from cardlab.training.run import write_curve  # noqa: PLC0415

    store, experiment, training = Store(address, root, tags), build_experiment(config), find_training(config, root)
    if training.is_finished:
        _add_tags(store, experiment, training, tags)
        report(f"finished before: {training.policy}")
        return

    def record(run: Run, trained: "Trained") -> None:
        write_curve(trained.rows, training.curve)
        write_atomically(training.folder / "config.json", json.dumps(config, indent=2, default=str) + "\n")
        run.log_artifact(trained.snapshots, "snapshots")
        run.log_artifact(training.curve)

    train_recorded(
        experiment,
        store,
        folder=training.folder,
        model_dir=training.policy,
        params=config,
        record=record,
        changed=changed,
        report=report,
    )


def find_training(config: Mapping[str, Any], root: Path) -> SeedTraining:
    """The folder in which `config` is trained; it may be missing."""
    from cardlab.training.run import run_folder  # noqa: PLC0415 (imports Lightning)

    experiment = build_experiment(config)
    return SeedTraining(experiment.seed, run_folder(root / "runs", experiment))


def mean_curve(curves: Sequence[Curve]) -> Mapping[str, Band]:
    """The mean over seeds of each score and win rate, with its band, over decisions."""
    names = [name for name in curves[0] if name.startswith(("score/", "win_rate/"))]
    shared = [name for name in names if all(name in curve for curve in curves)]
    return {name: band_over_seeds([(curve["decisions"], curve[name]) for curve in curves]) for name in shared}


def _run_side_by_side(jobs: Mapping[str, tuple[Any, ...]], places: int, report: Report) -> None:
    """Run `train_seed` for each job in a process of its own, at most `places` at a time."""
    waiting, running = dict(jobs), dict[ChildProcess, Report]()
    errors: list[Exception] = []
    try:
        while waiting or running:
            while waiting and len(running) < places:
                name = next(iter(waiting))
                child = ChildProcess.start(name, train_seed, *waiting.pop(name))
                running[child] = partial(_report_as, name, report)
            wait_for(running, _WAIT_SECONDS)
            for child in [child for child in running if not _is_running(child, running[child], errors)]:
                del running[child]
                stop([child])
    finally:
        stop(running)
    if errors:
        raise errors[0]


def _is_running(child: ChildProcess, report: Report, errors: list[Exception]) -> bool:
    """Pass on what the child has reported; False when it has exited, and its error is in `errors`."""
    exited = not child.process.is_alive()  # before its last messages are read
    try:
        child.receive(report)
        if exited:
            child.check_exit()
    except Exception as error:
        errors.append(error)
        return False
    return not exited


def _report_as(name: str, report: Report, text: str) -> None:
    report(f"{name}: {text}")


def _start_group_run(store: Store, first: Experiment, seeds: Sequence[int], group: str, changed: str) -> Run:
    """The run that the trainings are shown under. One of the group with other seeds is replaced."""
    shown, game, resume = ",".join(map(str, seeds)), first.game.spec.name, None
    for _, run in store.search_runs(f"tags.kind = 'seeds' and tags.group = '{group}'", game):
        if run.data.tags.get("seeds") == shown:
            resume = run.info.run_id
        else:
            store.client.delete_run(run.info.run_id)
    tags = {"kind": "seeds", "group": group, "seeds": shown, "changed": changed}
    params = {key: value for key, value in first.config.items() if key != "seed"}
    return store.start_run(game, f"{first.name} · {len(seeds)} seeds", tags=tags, params=params, resume=resume)


def _log_mean_curve(run: Run, curves: Sequence[Curve]) -> None:
    """Log the mean curve, the band under `interval/`, and its picture with the curves of the seeds."""
    bands = mean_curve(curves) if all(curves) else {}
    for name, band in bands.items():
        for place, decisions in enumerate(band.at):
            metrics = {name: float(band.mean[place])}
            if band.seeds > 1:
                metrics[f"interval/{name}_low"] = float(band.low[place])
                metrics[f"interval/{name}_high"] = float(band.high[place])
            run.log_metrics(metrics, int(decisions))


def _add_tags(store: Store, experiment: Experiment, training: SeedTraining, tags: Mapping[str, str]) -> None:
    """Set the tags of the run that made the policy of a finished training, if the store has it."""
    from cardlab.agents.policy_files import policy_digest  # noqa: PLC0415 (imports torch)

    condition = f"tags.kind = 'training' and {policy_filter(policy_digest(training.policy))}"
    for _, run in store.search_runs(condition, experiment.game.spec.name, 1):
        for key, value in tags.items():
            store.client.set_tag(run.info.run_id, key, value)


def _digest(config: Mapping[str, Any]) -> str:
    """Of the configuration without its seed."""
    text = json.dumps({**config, "seed": None}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:8]
