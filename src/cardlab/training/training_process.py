"""The part of a training that every one of its processes runs, and its settings for a CPU."""

import copy
import ctypes
import logging
import os
import platform
import warnings
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import lightning
import numpy as np
import torch
from lightning.pytorch.callbacks import Callback
from lightning.pytorch.strategies import SingleDeviceStrategy

from cardlab.agents.exploration import ExploringAgent
from cardlab.agents.specs import metric_name
from cardlab.learners.base import Learner, LearnerOptions
from cardlab.learners.distributed import ProcessGroup
from cardlab.learners.rollouts.collector import Collector
from cardlab.learners.rollouts.experience import Experience
from cardlab.training.callbacks import Checkpoints, CollectorState, ResourceUsage
from cardlab.training.experiment import TOTALS_OVER_PROCESSES, Experiment, training_code
from cardlab.training.options import TrainerOptions
from cardlab.training.start_point import StartPoint, read_start_point


class RolloutLoader:
    """One item per iteration: a rollout by the current network.

    Its length is known, so Lightning prefetches nothing: a rollout played early would be off-policy.
    """

    def __init__(
        self,
        learner: Learner,
        collector: Collector,
        experiment: Experiment,
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.learner = learner
        self.collector = collector
        self.experiment = experiment
        self.last_iteration = experiment.last_iteration
        self.dtype = dtype  # of matrix products during rollouts; Lightning sets that of the updates

    def __len__(self) -> int:
        return self.last_iteration

    def __iter__(self) -> Iterator[Experience]:
        while self.learner.iterations_done < self.last_iteration:
            self.learner.network.eval()
            yield self.play(self.learner.behaviour_agent(), self.learner.iterations_done)

    def play(self, agent: ExploringAgent, iteration: int) -> Experience:
        """The rollout of an iteration by `agent`."""
        self.collector.agent = agent
        with torch.autocast(self.learner.device.type, self.dtype, enabled=self.dtype != torch.float32):
            return self.collector.collect(self.learner.group.share_of(self.experiment.rollout_decisions(iteration)))


class OverlappedRollouts(RolloutLoader, Callback):
    """Plays the next rollout in a thread during the update, by a copy of the network before it.

    All rollouts but the first are thus by the network of one update before. A rollout is ready when an iteration ends,
    so a checkpoint holds it, and opponents do not change while it is played.
    """

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._thread = ThreadPoolExecutor(1, initializer=torch.set_flush_denormal, initargs=(True,))
        self._playing: Future[Experience] | None = None
        self._ready: Experience | None = None

    def __iter__(self) -> Iterator[Experience]:
        while self.learner.iterations_done < self.last_iteration:
            self.learner.network.eval()
            agent = self.learner.behaviour_agent()
            iteration = self.learner.iterations_done
            rollout, self._ready = self._ready or self.play(agent, iteration), None
            if iteration + 1 < self.last_iteration:
                fixed = copy.deepcopy(agent, {id(self.learner.game): self.learner.game})
                self._playing = self._thread.submit(self.play, fixed, iteration + 1)
            yield rollout

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Wait for the next rollout."""
        self.wait()

    def wait(self) -> None:
        """Wait for the rollout that is played, if any."""
        if self._playing is not None:
            self._ready, self._playing = self._playing.result(), None

    def state_dict(self) -> dict[str, Any]:
        """The rollout that no update has used, of all processes."""
        ready = {} if self._ready is None else self._ready.state_dict()
        return {"rollout": self.learner.group.gather_state(ready)}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restore it."""
        state = self.learner.group.own_state(state_dict["rollout"])
        self._ready = Experience.of_state(state, self.learner.game) if "actions" in state else None


AGE = "train/rollout_age"
"""Metric: iterations between playing a decision and learning from it, on average."""
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # glibc's mallopt(3)
_LARGEST_INT = 2**31 - 1


def keep_freed_memory() -> None:
    """Keep freed memory in the process; otherwise each step's tensors cause page faults again."""
    if platform.libc_ver()[0] == "glibc":
        allocator = ctypes.CDLL(None)
        allocator.mallopt(_MMAP_MAX, 0)  # large blocks too: otherwise each is mapped and unmapped
        allocator.mallopt(_TRIM_THRESHOLD, _LARGEST_INT)


@contextmanager
def denormals_flushed() -> Generator[None]:
    """Treat denormal numbers as 0 in this thread: Adam's moments of unused weights become denormal, which is slow."""
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def build_learner(
    experiment: Experiment, group: ProcessGroup | None = None, start: StartPoint | None = None
) -> tuple[Learner, Collector]:
    """The learner and the collector that plays its games; a function of the seed and of the rank.

    With a `start` the learner continues from it, with new games.

    All processes have the same weights; each has its own games, opponents' seats, replay buffer and generators.
    """
    group, options, game = group or ProcessGroup(), experiment.trainer, experiment.game
    torch.manual_seed(experiment.seed)
    network = experiment.network.build(game.spec)
    entropy = experiment.seed if start is None else (experiment.seed, start.iterations)
    for_games, for_learner = np.random.SeedSequence(entropy).spawn(2 * group.size)[2 * group.rank :][:2]
    for_updates, for_torch = for_learner.generate_state(2, np.uint64)
    learner = _share_options(experiment.agent, group).build(
        game, network, experiment.total_iterations, int(for_updates)
    )
    learner.group = group
    if start is not None:
        start.restore_learner(learner)
    if not group.is_main:
        torch.manual_seed(int(for_torch))
    if options.compile:
        learner.compile_networks()  # before the pool copies the network: copies share the compiled program
    opponents = experiment.opponents.build(game, partial(learner.trained_agent, game), network)
    num_games, rng = group.share_of(options.parallel_games), np.random.default_rng(for_games)
    collector = Collector(
        game,
        learner.behaviour_agent(),
        opponents,
        num_games,
        rng,
        ask_forced=options.ask_forced,
        keep_states=learner.needs_states,
        cut=learner.cuts_games,
    )
    if start is not None:
        start.restore_opponents(collector)
    return learner, collector


class TrainingProcess:
    """One process of a training: its learner under Lightning, and its part of the checkpoint."""

    def __init__(self, experiment: Experiment, checkpoint: Path, group: ProcessGroup) -> None:
        training_code(experiment)  # raises if it is not the code of the process that started this one
        self.experiment = experiment
        self.group = group
        torch.set_num_threads(experiment.trainer.threads)
        keep_freed_memory()
        self.start = read_start_point(experiment)
        self.learner, self.collector = build_learner(experiment, group, self.start)
        self.resource_usage = ResourceUsage(group)
        self.checkpoints = Checkpoints(checkpoint, experiment.trainer.checkpoint_seconds, group)

    def extra_metrics(self) -> dict[str, float]:
        """Metrics beside the learner's: memory, and of this process the age of decisions and win rates of opponents."""
        rates = {f"opponents/{metric_name(text)}": rate for text, rate in self.collector.opponents.win_rates.items()}
        return {**self.resource_usage.metrics, AGE: self.collector.mean_age, **rates}

    def fit(self, resume: Path | None, callbacks: list[lightning.Callback] | None = None) -> None:
        """Train until the budget is used, from the checkpoint `resume` if given, and write the last checkpoint.

        Only the main process has `callbacks`; when they stop the training, all processes stop.
        """
        all_callbacks = [
            CollectorState(self.collector, self.group),
            self.resource_usage,
            *(callbacks or []),
            self.checkpoints,
        ]
        if self.start is not None and resume is None:
            all_callbacks.append(self.start.callback([*(callbacks or []), self.resource_usage]))
        options = self.experiment.trainer
        dtype, loader = getattr(torch, options.precision), OverlappedRollouts if options.overlap else RolloutLoader
        rollouts = loader(self.learner, self.collector, self.experiment, dtype)
        if isinstance(rollouts, OverlappedRollouts):
            all_callbacks.insert(0, rollouts)
        trainer = lightning_trainer(options, all_callbacks, self.group)
        with warnings.catch_warnings(), denormals_flushed():
            warnings.filterwarnings("ignore", module="lightning")
            trainer.fit(self.learner, train_dataloaders=rollouts, ckpt_path=resume, weights_only=True)
        self.learner.network.eval()
        self.checkpoints.save(trainer)


def lightning_trainer(
    options: TrainerOptions, callbacks: list[lightning.Callback], group: ProcessGroup | None = None
) -> lightning.Trainer:
    """A trainer of one epoch, without logger, progress bar and checkpoints of its own.

    On a GPU sums of many numbers depend on the order of threads, unless torch is asked for deterministic ones.
    """
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return lightning.Trainer(
        accelerator="gpu" if options.device == "gpu" else "cpu",
        precision="bf16-mixed" if options.precision == "bfloat16" else "32-true",
        devices=1,
        strategy=RankStrategy(options.device, group) if group and group.size > 1 else "auto",
        max_epochs=1,
        callbacks=callbacks,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        use_distributed_sampler=False,
        deterministic="warn" if options.device == "gpu" else None,
    )


class RankStrategy(SingleDeviceStrategy):
    """Runs as a single device; ProcessGroup exchanges gradients. Lightning's strategies would restart the command."""

    def __init__(self, device: str, group: ProcessGroup) -> None:
        rank = int(os.environ.get("LOCAL_RANK", str(group.rank)))
        super().__init__(f"cuda:{rank % torch.cuda.device_count()}" if device == "gpu" else "cpu")
        self._group = group

    @property
    def is_global_zero(self) -> bool:
        """Whether this process writes the checkpoint."""
        return self._group.is_main


def _share_options(options: LearnerOptions, group: ProcessGroup) -> LearnerOptions:
    """The options with this process's share of those that are totals over all processes."""
    if group.size == 1:
        return options
    shares = {name: group.share_of(getattr(options, name)) for name in TOTALS_OVER_PROCESSES if hasattr(options, name)}
    return cast(LearnerOptions, replace(cast(Any, options), **shares))
