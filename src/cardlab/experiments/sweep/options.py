"""What a sweep tries, how often and what for: the options of the group `sweep`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cardlab.core.options import InvalidOption, check_choice, check_range
from cardlab.evaluation.options import MAX_DEALS, MIN_DEALS
from cardlab.games.protocol import Game
from cardlab.training.options import TrainerOptions

SAMPLERS = ("tpe", "random", "qmc", "gp", "grid")
METRICS = ("points", "win_rate")
OBJECTIVES = ("mean", "low")
PRUNERS = ("wilcoxon", "median", "hyperband")
COSTS = ("cpu_seconds",)
LAUNCHERS = ("processes", "ray")
FEWEST_POINTS = 2
"""Points of a learning curve, below which it says nothing about where it goes."""
_NAME = re.compile(r"\w[\w.-]*")
_STORAGE = re.compile(r"sqlite(\+\w+)?:///(?!:memory:).+|postgresql(\+\w+)?://.+")


@dataclass(frozen=True)
class SweepOptions:
    """`sweep=…`: a study of `trials` trials over `space`, each of `seeds` trainings."""

    space: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Key of the configuration → entry, as `Space.parse` reads them."""
    trials: int = 20
    """Finished ones, in all: what the study has already counts."""
    sampler: str = "tpe"
    seed: int = 1
    """Of the sampler: with one worker, the same seed proposes the same trials, interrupted or not."""
    baseline: bool = True
    """Whether the first trial has the values of the experiment itself, so that the best is no worse; not with grid."""
    metric: str = "points"
    objective: str = "mean"
    """Of the metric over the references: its mean, or `low`, the lower end of its 95 % interval."""
    cost: str | None = None
    """A second objective, to be small: `cpu_seconds` of training. The result is then a front, not one best trial."""
    seeds: int = 1
    """Trainings of a trial, with the seeds seed, seed + 1, …: their strength is averaged."""
    deals: int = 1000
    """Against each reference, after each training."""
    pruner: str | None = None
    """Gives hopeless trials up: `wilcoxon` by the evaluation's deals, `median` and `hyperband` by learning curves."""
    workers: int = 1
    """Processes at work on the study on this machine."""
    launcher: str = "processes"
    """Who starts the workers: this program, or `ray`, on the nodes of its cluster."""
    storage: str | None = None
    """Address of the database that holds the study, PostgreSQL for several machines; None: studies.db at the root."""
    heartbeat: int = 10
    """Seconds between two heartbeats of a running trial; after six missed ones it is run again."""
    study: str | None = None
    """Name of the study; None: made from all that decides its trials, so that a changed sweep is a new study."""
    apply: str | None = None
    """Name of the agent and the experiment that the best values are written as."""
    overwrite: bool = False
    """Whether `apply` may replace files that no sweep wrote."""

    def __post_init__(self) -> None:
        if not self.space:
            raise InvalidOption("sweep.space", "{}", "given, as in sweep=dqn or 'sweep.space.KEY={low: …, high: …}'")
        check_range("sweep.trials", self.trials, 1, whole=True)
        check_choice("sweep.sampler", self.sampler, SAMPLERS)
        check_range("sweep.seed", self.seed, 0, 2**63 - 1, whole=True)
        check_choice("sweep.metric", self.metric, METRICS)
        check_choice("sweep.objective", self.objective, OBJECTIVES)
        check_choice("sweep.cost", self.cost, (None, *COSTS))
        check_range("sweep.seeds", self.seeds, 1, 1000, whole=True)
        check_range("sweep.deals", self.deals, MIN_DEALS, MAX_DEALS, whole=True)
        check_choice("sweep.pruner", self.pruner, (None, *PRUNERS))
        if self.pruner is not None and self.cost is not None:
            raise InvalidOption("sweep.pruner", self.pruner, "null with sweep.cost: pruning compares by strength alone")
        check_range("sweep.workers", self.workers, 1, 256, whole=True)
        check_choice("sweep.launcher", self.launcher, LAUNCHERS)
        check_range("sweep.heartbeat", self.heartbeat, 1, 3600, whole=True)
        check_storage(self.storage)
        if self.study is not None:
            check_study(self.study)

    def check_game(self, game: Game) -> None:
        """InvalidOption for a metric that `game` does not have."""
        if game.spec.num_players == 1 and self.metric == "win_rate":
            raise InvalidOption(
                "sweep.metric", self.metric, f"points: {game.spec.name} has one player, who beats nobody"
            )

    def check_trainer(self, trainer: TrainerOptions) -> None:
        """InvalidOption for a pruner by learning curves where there are none."""
        if self.prunes_curves and trainer.evaluations < FEWEST_POINTS:
            allowed = f"wilcoxon, or trainer.evaluations at least {FEWEST_POINTS}: it compares learning curves"
            raise InvalidOption("sweep.pruner", self.pruner, allowed)

    @property
    def objective_names(self) -> list[str]:
        """What the study optimises, as Optuna's dashboard shows it."""
        strength = self.metric if self.objective == "mean" else f"{self.metric}_{self.objective}"
        return [strength, *([self.cost] if self.cost else [])]

    @property
    def prunes_curves(self) -> bool:
        """Whether trials are pruned by their learning curves."""
        return self.pruner in ("median", "hyperband")


def check_storage(address: str | None) -> None:
    """InvalidOption for what is no address of a study's storage."""
    if address is not None and not _STORAGE.fullmatch(address):
        allowed = "null (sqlite:///studies.db at the project's root), sqlite:///FILE or postgresql+psycopg://…"
        raise InvalidOption("sweep.storage", address, allowed)


def check_study(name: str) -> None:
    """InvalidOption for what cannot be the name of a study."""
    if not _NAME.fullmatch(name):
        raise InvalidOption("sweep.study", name, "a name of letters, digits and _ . -")
