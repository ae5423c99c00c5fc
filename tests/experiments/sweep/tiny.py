"""A sweep that takes seconds, and what it leaves in a study and in MLflow."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import optuna

from cardlab.experiments.config.composition import compose_experiment
from cardlab.tracking import Store

PROGRAM = [sys.executable, "-c", "import sys; from cardlab.cli import main; sys.exit(main())"]
TINY = [
    "game=thirty_one",
    "agent=dqn",
    "sweep=dqn",
    "trainer=smoke",
    "trainer.decisions=256",
    "trainer.evaluations=0",
    "agent.decisions_per_iteration=128",
    "agent.updates_per_iteration=1",
    "agent.minibatch_size=64",
    "network=mlp",
    "network.widths=[8]",
    "sweep.deals=4",
]


def swept_experiment(overrides: Sequence[str]) -> dict[str, Any]:
    """The configuration of the experiment whose values `cardlab sweep OVERRIDES` searches."""
    return compose_experiment([text for text in overrides if not text.startswith("sweep")])


def study_of(root: Path) -> optuna.Study:
    """The only study of a project, as anyone opens it with Optuna."""
    return optuna.load_study(study_name=None, storage=f"sqlite:///{root}/studies.db")


def runs_of(root: Path, kind: str) -> list[Any]:
    """The runs of this kind, trials in their order."""
    store = Store(root=root)
    found = store.client.search_runs([store.experiment_id("thirty_one")], f"tags.kind = '{kind}'")
    return sorted(found, key=lambda run: int(run.data.tags.get("sweep.trial", 0)))
