"""One training run: from an experiment to a policy's folder and its learning curve. Goes on where it was cut off."""

import csv
import hashlib
import json
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout

from cardlab.agents.policies import describe, save_policy
from cardlab.core.code_digest import code_digest
from cardlab.evaluation.seating import make_lineup
from cardlab.games.catalogue import without_training_options
from cardlab.games.protocol import Game
from cardlab.learners.base import RoundLearner
from cardlab.training.callbacks import CheckpointError, Curve, MetricsLog, Row, TrackedRun, TrackingState
from cardlab.training.continuation import write_stretch
from cardlab.training.curve_evaluation import measure_strength
from cardlab.training.experiment import Experiment, check_device
from cardlab.training.process_loop import Learning
from cardlab.training.processes import together
from cardlab.training.snapshots import Snapshots
from cardlab.training.start import named_policies, start_digest
from cardlab.training.stopwatch import Spent, Stopwatch

_CHECKPOINT = "checkpoint.ckpt"
_FINISHED = "finished.ckpt"
_SNAPSHOTS = "snapshots"
_STRETCH = "training"
_CURVE_ARENA = ("references", "seed")  # what the learning curve depends on, of the arena


class RunInUse(RuntimeError):
    """Another process is training in this run folder."""


@dataclass(frozen=True)
class Trained:
    """What a training run leaves."""

    folder: Path  # the policy
    digest: str
    rows: list[Row]  # the learning curve
    rounds: int
    checkpoint: Path  # the last one, weights and optimiser and all
    stretch: Path  # folder of what a later stretch may start from
    snapshots: Path  # folder of the policies kept on the way, if any, each named by its number of decisions
    decisions: int
    spent: Spent


def run_folder(root: Path, experiment: Experiment) -> Path:
    """`root`/NAME/<hash of configuration, code and policies>: where this very training keeps its checkpoint."""
    arena: Mapping[str, Any] = experiment.config.get("arena", {})
    config = {**experiment.config, "arena": {key: arena.get(key) for key in _CURVE_ARENA}}
    digest = hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode())
    digest.update(code_digest((experiment.builder, __name__), experiment.config).encode())
    if experiment.trainer.start_from is not None:
        digest.update(start_digest(Path(experiment.trainer.start_from)))
    for folder in named_policies(config, experiment.game.spec.name):
        digest.update(start_digest(folder))
    return root / experiment.name / digest.hexdigest()[:16]


def train(
    experiment: Experiment,
    *,
    run_dir: Path,
    model_dir: Path,
    log: MetricsLog | None = None,
    tell: Callable[[str], None] = print,
    unfinished: bool = False,
    claimed: bool = False,
    tracked: TrackedRun | None = None,
) -> Trained:
    """Train, or go on from the checkpoint in `run_dir`, and write the policy to `model_dir`.

    `unfinished`: whoever asked was cut off before, perhaps after the training's end: then that is where it goes on.
    `claimed`: the caller holds the folder. `tracked`: the run behind `log`, whose unsent metrics the checkpoint holds.
    Raises InvalidOption for a device that this machine has not, RunInUse,
    CheckpointError, ProcessLost, or TrainingDiverged; the last good checkpoint stays in each case.
    """
    check_device(experiment.trainer)
    checkpoint, finished = run_dir / _CHECKPOINT, run_dir / _FINISHED
    with nullcontext() if claimed else claim(run_dir):
        if unfinished and finished.exists() and not checkpoint.exists():
            finished.replace(checkpoint)
        return _train(experiment, checkpoint, model_dir, log, tell, tracked)


@contextmanager
def claim(run_dir: Path) -> Generator[None]:
    """Be the only process that trains in this folder, which is made; RunInUse when another is. A kill lets go of it."""
    lock = FileLock(run_dir / "lock", timeout=1)  # `cardlab runs` holds it for a moment
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise RunInUse(f"{run_dir}: another process is training here") from error
    try:
        yield
    finally:
        lock.release()


def write_curve(rows: list[Row], path: Path) -> None:
    """The learning curve as CSV: a row for each point, no times in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = ["round", "decisions", *sorted({name for row in rows for name in row} - {"round", "decisions"})]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            counts = {name: int(row[name]) for name in ("round", "decisions")}
            writer.writerow({**{name: f"{value:.6g}" for name, value in row.items()}, **counts})


def _train(
    experiment: Experiment,
    checkpoint: Path,
    model_dir: Path,
    log: MetricsLog | None,
    tell: Callable[[str], None],
    tracked: TrackedRun | None,
) -> Trained:
    resume = _check_checkpoint(checkpoint, experiment.trainer.processes, tell)
    with together(experiment, checkpoint, resume) as ranks:
        learning = Learning(experiment, checkpoint, ranks)
        return _lead(learning, checkpoint, resume, model_dir, log, tell, tracked)


def _lead(
    learning: Learning,
    checkpoint: Path,
    resume: Path | None,
    model_dir: Path,
    log: MetricsLog | None,
    tell: Callable[[str], None],
    tracked: TrackedRun | None,
) -> Trained:
    """Learn, and do what one process does for all: measure, tell and write."""
    experiment, learner = learning.experiment, learning.learner
    options, last_round = experiment.trainer, experiment.last_round
    game = without_training_options(experiment.game)
    description = describe(game, experiment.network, learner.policy_kind, learner.policy_options())
    measure = _measure(experiment, learner, game)
    curve = Curve(measure, options.evaluations, last_round, options.patience, log, tell, learning.readings)
    stopwatch = Stopwatch(learning.gauges)
    save = partial(save_policy, description=description, network=learner.settled_network)
    snapshots = Snapshots(checkpoint.with_name(_SNAPSHOTS), options.snapshots, last_round, save)
    learning.saver.tell = tell
    if resume is None:
        snapshots.clear()
    state = [] if tracked is None else [TrackingState(tracked)]
    if tracked is not None:
        learning.saver.after_save = tracked.flush
    learning.fit(resume, [curve, stopwatch, snapshots, *state])
    snapshots.keep(learner)
    digest = save(model_dir)
    finished = checkpoint.with_name(_FINISHED)
    checkpoint.replace(finished)
    stretch = checkpoint.with_name(_STRETCH)
    write_stretch(finished, experiment, stretch)
    decisions, spent = learner.decisions_done, stopwatch.spent
    kept = (finished, stretch, snapshots.folder)
    return Trained(model_dir, digest, curve.rows, learner.rounds_done, *kept, decisions, spent)


def _measure(experiment: Experiment, learner: RoundLearner, game: Game) -> Callable[[], Mapping[str, float]]:
    """How strong the learner is at the moment; a table of another size is refused before anything is trained."""
    options, agent = experiment.trainer, learner.playing_agent(game, learner.settled_network)
    table = options.evaluation_lineup
    if table:
        make_lineup(game, [agent, *table])
    return partial(measure_strength, game, agent, experiment.arena, options.evaluation_deals, table)


def _check_checkpoint(path: Path, processes: int, tell: Callable[[str], None]) -> Path | None:
    """The checkpoint to go on from, if there is one; CheckpointError when it is torn, foreign or of more processes."""
    if not path.exists():
        return None
    try:
        content: Mapping[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        done = int(content["learner"]["rounds_done"])
        written_by = 1 + len(content["learner"].get("others", ()))
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else repr(error)
        raise CheckpointError(f"{path}: is not a checkpoint of this run ({reason[:120]}): delete it") from error
    if written_by != processes:
        reason = f"it goes on with trainer.processes={written_by}, not {processes}"
        raise CheckpointError(f"{path}: was written by {written_by} processes: {reason}, or delete it")
    tell(f"going on after round {done} ({path})")
    return path
