"""One training run: from an experiment to a policy's folder and its learning curve. Goes on where it was cut off."""

import csv
import hashlib
import json
import logging
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import lightning
import numpy as np
import torch
from filelock import FileLock, Timeout

from cardlab.agents.policies import describe, save_policy
from cardlab.arena.seating import make_lineup
from cardlab.experience.collector import Collector
from cardlab.games.catalogue import for_matches
from cardlab.games.protocol import Game
from cardlab.learners.rounds import RoundLearner
from cardlab.training.callbacks import Checkpoints, Curve, Field, MetricsLog, Row
from cardlab.training.experiment import Experiment
from cardlab.training.rounds import Rounds
from cardlab.training.snapshots import Snapshots
from cardlab.training.stopwatch import Spent, Stopwatch
from cardlab.training.strength import measure_strength

_PACKAGE = Path(__file__).parents[1]
_CHECKPOINT = "checkpoint.ckpt"
_FINISHED = "finished.ckpt"
_SNAPSHOTS = "snapshots"
_CURVE_ARENA = ("references", "seed")  # what the learning curve depends on, of the arena


class CheckpointError(RuntimeError):
    """A checkpoint cannot be read; the message is one line that names the file."""


class RunInUse(RuntimeError):
    """Another process is training in this run folder."""


@dataclass(frozen=True)
class Trained:
    """What a training run leaves."""

    folder: Path  # the policy
    digest: str
    rows: list[Row]  # the learning curve
    rounds: int
    checkpoint: Path  # the last one, weights and optimiser and all: what a later run may start from
    snapshots: Path  # folder of the policies kept on the way, if any, each named by its number of decisions
    decisions: int
    spent: Spent


def run_folder(root: Path, experiment: Experiment) -> Path:
    """`root`/NAME/<hash of configuration and code>: where this very training keeps its checkpoint."""
    arena: Mapping[str, Any] = experiment.config.get("arena", {})
    config = {**experiment.config, "arena": {key: arena.get(key) for key in _CURVE_ARENA}}
    digest = hashlib.sha256(json.dumps(config, sort_keys=True, default=str).encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(path.read_bytes())
    return root / experiment.name / digest.hexdigest()[:16]


def train(
    experiment: Experiment,
    *,
    run_dir: Path,
    model_dir: Path,
    log: MetricsLog | None = None,
    tell: Callable[[str], None] = print,
) -> Trained:
    """Train, or go on from the checkpoint in `run_dir`, and write the policy to `model_dir`.

    Raises RunInUse, CheckpointError, or TrainingDiverged; the last good checkpoint stays in each case.
    """
    run_dir.mkdir(parents=True, exist_ok=True)
    lock = FileLock(run_dir / "lock")
    try:
        with lock.acquire(timeout=0):
            return _train(experiment, run_dir / _CHECKPOINT, model_dir, log, tell)
    except Timeout as error:
        raise RunInUse(f"{run_dir}: another process is training here") from error


def build_learner(experiment: Experiment) -> tuple[RoundLearner, Collector]:
    """The learner with a fresh network, and the tables that it learns from; a function of the seed."""
    torch.manual_seed(experiment.seed)
    network = experiment.network.build(experiment.game.spec)
    sequence = np.random.SeedSequence(experiment.seed)
    for_tables, for_learner = sequence.spawn(2)
    learner = experiment.agent.build(
        experiment.game, network, experiment.rounds, int(for_learner.generate_state(1, np.uint64)[0])
    )
    opponents = experiment.opponents.build(experiment.game, partial(learner.playing_agent, experiment.game), network)
    rng = np.random.default_rng(for_tables)
    options = experiment.trainer
    collector = Collector(
        experiment.game, learner.learning_agent(), opponents, options.tables, rng, ask_forced=options.ask_forced
    )
    return learner, collector


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
) -> Trained:
    options, last_round = experiment.trainer, experiment.last_round
    torch.set_num_threads(options.threads)
    learner, collector = build_learner(experiment)
    game = for_matches(experiment.game)
    description = describe(game, experiment.network, learner.plays, learner.play_options())
    curve = Curve(_measure(experiment, learner, game), options.evaluations, last_round, options.patience, log, tell)
    stopwatch = Stopwatch()
    save = partial(save_policy, description=description, network=learner.network)
    snapshots = Snapshots(checkpoint.with_name(_SNAPSHOTS), options.snapshots, last_round, save)
    saver = Checkpoints(checkpoint, options.checkpoint_seconds)
    trainer = lightning_trainer(options.device, [Field(collector), curve, stopwatch, snapshots, saver])
    resume = _check_checkpoint(checkpoint, tell)
    if resume is None:
        snapshots.clear()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="lightning")
        trainer.fit(
            learner,
            train_dataloaders=Rounds(learner, collector, experiment.agent.decisions_per_round, last_round),
            ckpt_path=resume,
            weights_only=True,
        )
    learner.network.eval()
    snapshots.keep(learner)
    digest = save(model_dir)
    finished = checkpoint.with_name(_FINISHED)
    saver.save(trainer)
    checkpoint.replace(finished)
    decisions, spent = learner.decisions_done, stopwatch.spent
    return Trained(model_dir, digest, curve.rows, learner.rounds_done, finished, snapshots.folder, decisions, spent)


def _measure(experiment: Experiment, learner: RoundLearner, game: Game) -> Callable[[], Mapping[str, float]]:
    """How strong the learner is at the moment; a table of another size is refused before anything is trained."""
    options, agent = experiment.trainer, learner.playing_agent(game, learner.network)
    table = options.evaluation_table
    if table:
        make_lineup(game, [agent, *table])
    return partial(measure_strength, game, agent, experiment.arena, options.evaluation_deals, table)


def lightning_trainer(device: str, callbacks: list[lightning.Callback]) -> lightning.Trainer:
    """A trainer that does nothing but call us: one epoch of rounds, no files, no logger, no bar."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return lightning.Trainer(
        accelerator="gpu" if device == "gpu" else "cpu",
        devices=1,
        max_epochs=1,
        callbacks=callbacks,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
    )


def _check_checkpoint(path: Path, tell: Callable[[str], None]) -> Path | None:
    """The checkpoint to go on from, if there is one; CheckpointError when it is torn or foreign."""
    if not path.exists():
        return None
    try:
        content: Mapping[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        done = int(content["learner"]["rounds_done"])
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else repr(error)
        raise CheckpointError(f"{path}: is not a checkpoint of this run ({reason[:120]}): delete it") from error
    tell(f"going on after round {done} ({path})")
    return path
