"""One step of each learner on one recorded round, by one process or by several that have a part of it each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import torch
from torch.distributed import FileStore

from cardlab.learners.base import Learner
from cardlab.learners.distributed import ProcessGroup
from cardlab.learners.rollouts.experience import Experience
from cardlab.training.launch_processes import join_process_group
from cardlab.training.training_process import build_learner, lightning_trainer
from learners.kuhn_training import kuhn_experiment

OPTIONS: dict[str, dict[str, Any]] = {
    "ppo": {"epochs": 1, "minibatch_size": 4096, "max_grad_norm": 1e9},
    "ppo_all_cards": {"epochs": 1, "minibatch_size": 4096, "max_grad_norm": 1e9},
    "dqn_bootstrap": {"updates_per_iteration": 1, "max_grad_norm": 1e9, "double": True},
    "td": {"minibatch_size": 4096, "max_grad_norm": 1e9, "end_decay": 0.5},
}
FIRST_PART = 0.3  # of the decisions: parts that differ must count by their size


@dataclass(frozen=True)
class OneRound:
    """What a trainer iterates over."""

    experience: Experience

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[Experience]:
        yield self.experience


def part_of(experience: Experience, group: ProcessGroup) -> Experience:
    """The decisions of the first or of the second process, no player's game cut in two."""
    if group.size == 1:
        return experience
    cut = int(np.flatnonzero(experience.ends)[int(FIRST_PART * experience.ends.sum())]) + 1
    rows = slice(0, cut) if group.is_main else slice(cut, None)
    names = ("info_states", "players", "actions", "log_probabilities", "values", "rewards", "ends", "states")
    columns = {name: getattr(experience, name) for name in names}
    return replace(experience, **{name: column[rows] for name, column in columns.items() if column is not None})


def learn_from_all(learner: Any) -> None:
    """Let a DQN sample each decision of its replay buffer once."""
    buffer, sample = learner.buffer, learner.buffer.sample
    in_order = SimpleNamespace(integers=lambda _, size: np.arange(size))
    buffer.sample = lambda *_: sample(len(buffer), in_order)


def step(agent: str, group: ProcessGroup, device: Literal["cpu", "gpu"] = "cpu") -> dict[str, np.ndarray]:
    """Gradients before clipping and weights after the step, of all that is trained."""
    experiment = kuhn_experiment(agent, rounds=1)
    experiment = replace(experiment, agent=replace(experiment.agent, **OPTIONS[agent]))
    learner, collector = build_learner(experiment)
    experience = part_of(collector.collect(600), group)
    learner.group = group
    if hasattr(learner, "buffer"):
        learn_from_all(learner)
    trainer = lightning_trainer(replace(experiment.trainer, device=device), [], group)
    trainer.fit(learner, train_dataloaders=OneRound(experience))
    return {f"{agent}/{kind}/{name}": array for kind, name, array in _arrays(learner)}


def _arrays(learner: Learner) -> list[tuple[str, str, np.ndarray]]:
    rows: list[tuple[str, str, np.ndarray]] = []
    parts = [part.named_parameters(str(number)) for number, part in enumerate(learner.trained_modules)]
    for name, weights in chain.from_iterable(parts):
        rows.append(("weight", name, weights.detach().cpu().numpy().copy()))
        if weights.grad is not None:
            rows.append(("gradient", name, weights.grad.cpu().numpy().copy()))
    return rows


def steps(group: ProcessGroup, meeting: Path) -> dict[str, np.ndarray]:
    """Of all learners, in a group that meets at a file."""
    torch.set_num_threads(1)
    store = FileStore(str(meeting), group.size)
    store.set_timeout(timedelta(minutes=10))
    with join_process_group(store, group):
        return {name: array for agent in OPTIONS for name, array in step(agent, group).items()}


def other_process(arguments: Sequence[str]) -> int:
    """What the second of two processes runs, in the folder of its argument."""
    folder = Path(arguments[0])
    np.savez(folder / "second.npz", **steps(ProcessGroup(1, 2), folder / "meeting"))
    return 0
