"""The options of the group `sweep`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from cardlab.core.messages import InvalidOption
from cardlab.core.options import Flag, Text, Whole, checked, invalid, option, options
from cardlab.evaluation.intervals import SELF
from cardlab.evaluation.options import DEFAULT_REFERENCES, MAX_DEALS, MIN_DEALS, Launcher
from cardlab.experiments.config.build_parts import group
from cardlab.experiments.config.values import flat_space
from cardlab.games.abilities import find_exploitability
from cardlab.games.protocol import Game
from cardlab.training.options import TrainerOptions

MIN_POINTS = 2  # points that a pruner needs in a learning curve
STORAGE = "OPTUNA_STORAGE"  # environment variable: the address of the storage, as for the command `optuna`
_NAME = re.compile(r"\w[\w.-]*")
_NAME_LENGTH = 200  # bytes: trials train in a folder of this name


@options("sweep")
class SweepOptions:
    """A study of trials over a space of options; each trial trains once or several times."""

    trials: Whole = option(20, "number of finished trials; run the command again to resume", ge=1)
    sampler: Literal["tpe", "random", "qmc", "gp", "grid"] = option("tpe", "sampler: tpe, random, qmc, gp or grid")
    seed: Whole = option(1, "seed of the sampler", ge=0)
    baseline: Flag = option(True, "start with the values of the experiment itself; not with sampler=grid")
    metric: Literal["points", "win_rate", "exploitability"] = option(
        "points", "metric over arena.references: points, win_rate or exploitability (exact, negated: more is better)"
    )
    objective: Literal["mean", "low"] = option("mean", "mean, or low: the lower end of the 95 % interval")
    cost: Literal["cpu_seconds"] | None = option(
        None, "second objective to minimise: cpu_seconds; the result is then a Pareto front; null: none"
    )
    seeds: Whole = option(
        1, "trainings per trial, with the seeds seed, seed + 1, …; their scores are averaged", ge=1, le=1000
    )
    deals: Whole = option(
        1000,
        "deals against each reference after each training; evaluations play other deals",
        ge=MIN_DEALS,
        le=MAX_DEALS,
    )
    pruner: Literal["wilcoxon", "median", "hyperband"] | None = option(
        None, "pruner: wilcoxon (by deals of the evaluation), median or hyperband (by learning curves); null: none"
    )
    workers: Whole = option(1, "worker processes on this machine", ge=1, le=256)
    launcher: Launcher = "processes"
    storage: Text | None = option(
        None,
        "database of the study, e.g. postgresql+psycopg://…; null: that of OPTUNA_STORAGE or studies.db in the project",
    )
    heartbeat: Whole = option(
        10, "seconds between heartbeats of a running trial; after six missed ones it is run again", ge=1, le=3600
    )
    confirm: Whole = option(
        0,
        "number of new seeds (2 or more) that retrain the best trial, to measure its selection bias; 0: none",
        ge=0,
        le=100,
    )
    study: Text | None = option(
        None, "name of the study; null: a hash of all that decides the trials, so a changed sweep is a new study"
    )
    apply: Text | None = option(
        None,
        "GAME/NAME: write the best values to conf/agent/ and conf/experiment/ under this name; null: write nothing",
    )
    overwrite: Flag = option(False, "allow apply to replace files that no sweep wrote")
    space: Mapping[str, Any] = option(
        {},
        "key: {low, high, log, step}, {choices: […]} or a list; with when: {KEY: VALUE} if conditional",
        factory=dict[str, Any],
    )

    def __post_init__(self) -> None:
        if not self.space:
            raise invalid(self, "space", "given, as in sweep=dqn or 'sweep.space.KEY={low: …, high: …}'")
        if self.pruner is not None and self.cost is not None:
            raise invalid(self, "pruner", "null with sweep.cost: pruning compares by one objective")
        if self.study is not None:
            check_study(self.study)

    def check_experiment(self, game: Game, trainer: TrainerOptions) -> None:
        """Raise InvalidOption for a metric that `game` lacks, and for a pruner without learning curves."""
        if game.spec.num_players == 1 and self.metric == "win_rate":
            raise invalid(self, "metric", f"points: {game.spec.name} has only one player")
        if self.metric == "exploitability":
            find_exploitability(game, "sweep.metric")
        if self.prunes_curves and trainer.evaluations < MIN_POINTS:
            allowed = f"wilcoxon, or trainer.evaluations at least {MIN_POINTS}: it compares learning curves"
            raise invalid(self, "pruner", allowed)

    def against(self, game: Game, references: Sequence[str]) -> str:
        """The opponents of a score, in words, for the tag of its run."""
        if self.metric == "exploitability":
            return "best response"
        names = references or DEFAULT_REFERENCES
        text = names[0] if len(names) == 1 else f"mean of {', '.join(names)}"
        text = text if game.spec.num_players > 1 else SELF
        return f"{text} (win rate)" if self.metric == "win_rate" else text

    @property
    def objective_names(self) -> list[str]:
        """The names of the study's objectives in optuna-dashboard."""
        score = self.metric if self.objective == "mean" else f"{self.metric}_{self.objective}"
        return [score, *([self.cost] if self.cost else [])]

    @property
    def prunes_curves(self) -> bool:
        """Whether trials are pruned by their learning curves."""
        return self.pruner in ("median", "hyperband")


def build_sweep(config: object) -> SweepOptions:
    """The options of a group `sweep`."""
    data = group("sweep", config)
    space = checked("sweep.space", data.get("space", {}), Mapping[str, Any])
    given: dict[str, Any] = {**data, "space": flat_space(space)}
    return SweepOptions(**given)


def check_study(name: str) -> None:
    """Raise InvalidOption unless `name` can be the name of a study."""
    if not _NAME.fullmatch(name) or len(name.encode()) > _NAME_LENGTH:
        allowed = f"a name of letters, digits and _ . -, at most {_NAME_LENGTH} characters"
        raise invalid_study(name, allowed)


def invalid_study(name: str, allowed: str) -> InvalidOption:
    """The error for a study that cannot be used."""
    return InvalidOption("sweep.study", name, allowed)
