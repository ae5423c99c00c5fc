"""A sweep that takes seconds, and what it leaves in a study and in MLflow."""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import optuna

from cardlab.experiments.config.composition import compose_experiment
from cardlab.tracking import Store
from failures.children import run_command

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


def sweep_to_the_second_training(arguments: Sequence[str]) -> int:
    """Run a sweep that halts after the first iteration of its second training: in a process of its own."""
    from cardlab.experiments.sweep import trials  # noqa: PLC0415  in the child

    begun, real = 0, trials.train

    def train(*given: Any, log: Any, **named: Any) -> Any:
        nonlocal begun
        begun += 1
        return real(*given, log=HaltingLog(log) if begun == 2 else log, **named)

    trials.train = train
    return run_command(arguments)


class HaltingLog:
    """Logs the first metrics of a training and halts this process."""

    def __init__(self, log: Any) -> None:
        self.log, self.halted = log, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.log, name)

    def log_metrics(self, *given: Any, **named: Any) -> None:
        self.log.log_metrics(*given, **named)
        if not self.halted:
            self.halted = True
            os.kill(os.getpid(), signal.SIGSTOP)
