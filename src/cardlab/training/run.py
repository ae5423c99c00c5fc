"""One training run: an experiment becomes a policy and a learning curve. It resumes from its checkpoint."""

import csv
import hashlib
import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from cardlab.agents.policy_files import describe, save_policy
from cardlab.evaluation.seating import make_lineup
from cardlab.games.make_game import without_training_options
from cardlab.games.protocol import Game
from cardlab.learners.base import Learner
from cardlab.training.callbacks import MetricsLog, Snapshots, TimeSpent, TrackedRun, TrackingState
from cardlab.training.checkpoint_files import PREVIOUS, find_checkpoint
from cardlab.training.curve_evaluation import score_agent
from cardlab.training.experiment import Experiment, check_device, training_code
from cardlab.training.launch_processes import start_processes
from cardlab.training.learning_curve import LearningCurve, Row
from cardlab.training.progress import TrainingProgress, plain_progress
from cardlab.training.start_point import named_policies, start_digest, write_continuation
from cardlab.training.training_process import TrainingProcess

_CHECKPOINT = "checkpoint.ckpt"
_FINISHED = "finished.ckpt"
_SNAPSHOTS = "snapshots"
_CONTINUATION = "training"
_CURVE_ARENA = ("references", "seed")  # options of the arena that the learning curve depends on


class RunInUse(RuntimeError):
    """Another process trains in this run folder."""


@dataclass(frozen=True)
class Trained:
    """Result of a training run."""

    folder: Path  # the policy
    digest: str
    rows: list[Row]  # the learning curve
    iterations: int
    checkpoint: Path  # the last one
    continuation: Path  # folder from which a longer training may start (trainer.start_from)
    snapshots: Path  # folder of snapshots, each in a folder named by its number of decisions
    decisions: int
    spent: TimeSpent


def run_folder(root: Path, experiment: Experiment) -> Path:
    """`root`/NAME/<hash of configuration, code and policies>: folder of this training's checkpoint."""
    arena: Mapping[str, Any] = experiment.config.get("arena", {})
    config = {**experiment.config, "arena": {key: arena.get(key) for key in _CURVE_ARENA}}
    if "trainer" in config:
        config["trainer"] = {key: value for key, value in config["trainer"].items() if key != "launcher"}
    digest = hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode())
    digest.update(training_code(experiment).encode())
    if experiment.trainer.start_from is not None:
        digest.update(start_digest(Path(experiment.trainer.start_from)))
    for folder in named_policies(config, experiment.game):
        digest.update(start_digest(folder))
    return root / experiment.name / digest.hexdigest()[:16]


def train(
    experiment: Experiment,
    *,
    run_dir: Path,
    model_dir: Path,
    log: MetricsLog | None = None,
    report: Callable[[str], None] = print,
    unfinished: bool | None = None,
    tracked: TrackedRun | None = None,
    progress: TrainingProgress | None = None,
) -> Trained:
    """Train, or resume from the checkpoint in `run_dir`, and write the policy to `model_dir`.

    `unfinished`, given by a caller that holds the lock of the folder: the training was interrupted before, perhaps
    after its last iteration. `tracked`: the run behind `log`, whose unsent metrics the checkpoint saves. `progress`
    shows the iterations; without it `report` gets a line at each point of the learning curve. Raises InvalidOption for
    a device that this machine lacks, RunInUse, CheckpointError, ProcessLost or TrainingDiverged; the last good
    checkpoint stays in each case.
    """
    check_device(experiment.trainer)
    checkpoint, finished = run_dir / _CHECKPOINT, run_dir / _FINISHED
    progress = progress or plain_progress(experiment.last_iteration, report)
    with lock_run_folder(run_dir) if unfinished is None else nullcontext():
        if unfinished and finished.exists() and not checkpoint.exists():
            finished.replace(checkpoint)
        return _train(experiment, checkpoint, model_dir, log, report, tracked, progress)


@contextmanager
def lock_run_folder(run_dir: Path) -> Generator[None]:
    """Create the folder and lock it for this process. Raises RunInUse; a killed process releases the lock."""
    lock = FileLock(run_dir / "lock", timeout=1)
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise RunInUse(f"{run_dir}: another process trains here; wait for it or stop it") from error
    try:
        yield
    finally:
        lock.release()


def write_curve(rows: list[Row], path: Path) -> None:
    """Write the learning curve as CSV: one row per point, without times."""
    path.parent.mkdir(parents=True, exist_ok=True)
    counters = ("iteration", "decisions")
    names = [*counters, *sorted({name for row in rows for name in row} - {*counters})]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            counts = {name: int(row[name]) for name in counters}
            writer.writerow({**{name: f"{value:.6g}" for name, value in row.items()}, **counts})


def _train(
    experiment: Experiment,
    checkpoint: Path,
    model_dir: Path,
    log: MetricsLog | None,
    report: Callable[[str], None],
    tracked: TrackedRun | None,
    progress: TrainingProgress,
) -> Trained:
    resume = find_checkpoint(checkpoint, experiment.trainer.processes, report)
    experiment = replace(experiment, code=training_code(experiment))  # the other processes compare theirs with it
    with start_processes(experiment, checkpoint, resume) as group:
        process = TrainingProcess(experiment, checkpoint, group)
        return _run_main_process(process, checkpoint, resume, model_dir, log, report, tracked, progress)


def _run_main_process(
    process: TrainingProcess,
    checkpoint: Path,
    resume: Path | None,
    model_dir: Path,
    log: MetricsLog | None,
    report: Callable[[str], None],
    tracked: TrackedRun | None,
    progress: TrainingProgress,
) -> Trained:
    """Train, and do what one process does for all: evaluate, print and write."""
    experiment, learner = process.experiment, process.learner
    options, last_iteration = experiment.trainer, experiment.last_iteration
    game = without_training_options(experiment.game)
    policy = learner.trained_agent(game, learner.ema_network)
    description = describe(game, experiment.network, policy, learner.policy_options())
    evaluate = _make_evaluation(experiment, learner, game)
    extra = process.extra_metrics
    curve = LearningCurve(experiment, evaluate, log, progress, extra)
    save = partial(save_policy, description=description, network=learner.ema_network)
    snapshots = Snapshots(checkpoint.with_name(_SNAPSHOTS), options.snapshots, last_iteration, save)
    process.checkpoints.report = report
    finished = checkpoint.with_name(_FINISHED)
    if resume is None:
        snapshots.clear()
        finished.unlink(missing_ok=True)  # of an earlier training, which this one must not take for its own
    state = [] if tracked is None else [TrackingState(tracked)]
    if tracked is not None:
        process.checkpoints.after_save = tracked.flush
    process.fit(resume, [curve, snapshots, *state])
    snapshots.save_snapshot(learner)
    digest = save(model_dir)
    checkpoint.with_name(PREVIOUS).unlink(missing_ok=True)
    checkpoint.replace(finished)
    continuation = checkpoint.with_name(_CONTINUATION)
    write_continuation(finished, experiment, continuation)
    paths = (finished, continuation, snapshots.folder)
    counts = (learner.decisions_done, process.resource_usage.spent)
    return Trained(model_dir, digest, curve.rows, learner.iterations_done, *paths, *counts)


def _make_evaluation(experiment: Experiment, learner: Learner, game: Game) -> Callable[[], Mapping[str, float]]:
    """A function that scores the current policy. Raises InvalidOption for a lineup of the wrong size."""
    options, agent = experiment.trainer, learner.trained_agent(game, learner.ema_network)
    lineup = options.evaluation_lineup
    if lineup:
        make_lineup(game, [agent, *lineup])
    exact = options.exploitability
    return partial(score_agent, game, agent, experiment.arena, options.evaluation_deals, lineup, exact=exact)
