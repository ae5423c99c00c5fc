"""The part of a training that all of its processes run: their share of the tables, and rounds under Lightning."""

import logging
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import lightning
import numpy as np
import torch
from lightning.pytorch.strategies import SingleDeviceStrategy

from cardlab.learners.base import LearnerOptions, RoundLearner
from cardlab.learners.distributed import Ranks
from cardlab.learners.rollouts.collector import Collector
from cardlab.training.callbacks import Checkpoints, Field
from cardlab.training.cpu_settings import denormals_flushed, keep_freed_memory
from cardlab.training.curve_evaluation import metric_name
from cardlab.training.experiment import SHARED, Experiment
from cardlab.training.iterations import Rounds
from cardlab.training.options import TrainerOptions
from cardlab.training.resource_usage import Gauges
from cardlab.training.start import Start, read_start


def build_learner(
    experiment: Experiment, ranks: Ranks | None = None, start: Start | None = None
) -> tuple[RoundLearner, Collector]:
    """The learner with a fresh network, and the tables that it learns from; a function of the seed and of the rank.

    With a `start` it goes on from there, at new tables.

    All ranks have the same weights; each has tables, opponents' seats, memory and generators of its own.
    """
    ranks, options, game = ranks or Ranks(), experiment.trainer, experiment.game
    torch.manual_seed(experiment.seed)
    network = experiment.network.build(game.spec)
    entropy = experiment.seed if start is None else (experiment.seed, start.rounds)
    for_tables, for_learner = np.random.SeedSequence(entropy).spawn(2 * ranks.size)[2 * ranks.rank :][:2]
    for_updates, for_torch = for_learner.generate_state(2, np.uint64)
    learner = _share(experiment.agent, ranks).build(game, network, experiment.rounds, int(for_updates))
    learner.ranks = ranks
    if start is not None:
        start.set_learner(learner)
    if not ranks.first:
        torch.manual_seed(int(for_torch))
    if options.compile:
        learner.fuse()  # before its past selves are copied from it: they share its programs
    opponents = experiment.opponents.build(game, partial(learner.playing_agent, game), network)
    tables, rng = ranks.share(options.parallel_games), np.random.default_rng(for_tables)
    collector = Collector(
        game,
        learner.learning_agent(),
        opponents,
        tables,
        rng,
        ask_forced=options.ask_forced,
        keep_states=learner.needs_states,
    )
    if start is not None:
        start.set_field(collector)
    return learner, collector


class Learning:
    """One process's learner under Lightning, with what is kept of it in the checkpoint of the run."""

    def __init__(self, experiment: Experiment, checkpoint: Path, ranks: Ranks) -> None:
        self.experiment = experiment
        self.ranks = ranks
        torch.set_num_threads(experiment.trainer.threads)
        keep_freed_memory()
        self.start = read_start(experiment)
        self.learner, self.collector = build_learner(experiment, ranks, self.start)
        self.gauges = Gauges(ranks)
        self.saver = Checkpoints(checkpoint, experiment.trainer.checkpoint_seconds, ranks)

    def readings(self) -> dict[str, float]:
        """What is logged of a round beside the metrics: memory, and how the learner fares at this process's tables."""
        shares = self.collector.opponents.win_shares
        return self.gauges.latest | {f"opponents/{metric_name(text)}": share for text, share in shares.items()}

    def fit(self, resume: Path | None, callbacks: list[lightning.Callback] | None = None) -> None:
        """Learn from the checkpoint `resume` on until the budget is spent, and write the last checkpoint.

        Rank 0 alone has `callbacks`: what they say of stopping goes for all.
        """
        around = [Field(self.collector, self.ranks), self.gauges, *(callbacks or []), self.saver]
        if self.start is not None and resume is None:
            around.append(self.start.callback(callbacks or []))
        options = self.experiment.trainer
        trainer = lightning_trainer(options, around, self.ranks)
        decisions = self.ranks.share(self.experiment.agent.decisions_per_iteration)
        dtype = getattr(torch, options.precision)
        rounds = Rounds(self.learner, self.collector, decisions, self.experiment.last_round, dtype)
        with warnings.catch_warnings(), denormals_flushed():
            warnings.filterwarnings("ignore", module="lightning")
            trainer.fit(self.learner, train_dataloaders=rounds, ckpt_path=resume, weights_only=True)
        self.learner.network.eval()
        self.saver.save(trainer)


def lightning_trainer(
    options: TrainerOptions, callbacks: list[lightning.Callback], ranks: Ranks | None = None
) -> lightning.Trainer:
    """A trainer that does nothing but call us: one epoch of rounds, no files, no logger, no bar."""
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return lightning.Trainer(
        accelerator="gpu" if options.device == "gpu" else "cpu",
        precision="bf16-mixed" if options.precision == "bfloat16" else "32-true",
        devices=1,
        strategy=OneOfSeveral(options.device, ranks) if ranks and ranks.size > 1 else "auto",
        max_epochs=1,
        callbacks=callbacks,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
    )


class OneOfSeveral(SingleDeviceStrategy):
    """A process that learns by itself as far as Lightning knows: `Ranks` exchanges the gradients; the first writes."""

    def __init__(self, device: str, ranks: Ranks) -> None:
        super().__init__(f"cuda:{ranks.rank % torch.cuda.device_count()}" if device == "gpu" else "cpu")
        self._ranks = ranks

    @property
    def is_global_zero(self) -> bool:
        """Whether this process writes the checkpoint."""
        return self._ranks.first


def _share(options: LearnerOptions, ranks: Ranks) -> LearnerOptions:
    """The options with this process's share of what all have together."""
    if ranks.size == 1:
        return options
    shares = {name: ranks.share(getattr(options, name)) for name in SHARED if hasattr(options, name)}
    return cast(LearnerOptions, replace(cast(Any, options), **shares))
