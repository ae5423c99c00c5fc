"""What a sweep tries, how often and what for: the options of the group `sweep`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cardlab.games.protocol import Game
from cardlab.options import InvalidOption, check_choice, check_range

SAMPLERS = ("tpe", "random", "qmc", "gp", "grid")
METRICS = ("points", "win_rate")
OBJECTIVES = ("mean", "low")
_NAME = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True)
class SweepOptions:
    """`sweep=…`: a study of `trials` trials over `space`, each of `seeds` trainings."""

    space: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Key of the configuration → entry, as `Space.parse` reads them."""
    trials: int = 20
    """Finished ones, in all: what the study has already counts."""
    sampler: str = "tpe"
    seed: int = 1
    """Of the sampler: the same seed proposes the same trials, whether or not the sweep was cut off in between."""
    baseline: bool = True
    """Whether the first trial has the values of the experiment itself, so that the best is no worse; not with grid."""
    metric: str = "points"
    objective: str = "mean"
    """Of the metric over the references: its mean, or `low`, the lower end of its 95 % interval."""
    seeds: int = 1
    """Trainings of a trial, with the seeds seed, seed + 1, …: their strength is averaged."""
    deals: int = 1000
    """Against each reference, after each training."""
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
        check_range("sweep.seeds", self.seeds, 1, 1000, whole=True)
        check_range("sweep.deals", self.deals, 2, whole=True)
        if self.study is not None and not _NAME.fullmatch(self.study):
            raise InvalidOption("sweep.study", self.study, "a name of letters, digits and _ . -")

    def check_game(self, game: Game) -> None:
        """InvalidOption for a metric that `game` does not have."""
        if game.spec.num_players == 1 and self.metric == "win_rate":
            raise InvalidOption(
                "sweep.metric", self.metric, f"points: {game.spec.name} has one player, who beats nobody"
            )
