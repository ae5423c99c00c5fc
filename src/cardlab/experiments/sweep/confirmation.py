"""The best trial trained again with fresh seeds: the highest of many scores is biased, that of a repetition is not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from cardlab.evaluation.deals import Purpose
from cardlab.evaluation.intervals import Estimate
from cardlab.evaluation.seed_statistics import mean_over_seeds
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.values import with_values
from cardlab.experiments.seeds import train_seeds
from cardlab.experiments.sweep.scoring import combine, metric_bounds, play_references, sweep_arena
from cardlab.experiments.sweep.space import Values
from cardlab.experiments.sweep.worker import SweepPlan
from cardlab.games.make_game import without_training_options
from cardlab.tracking import Store


@dataclass(frozen=True)
class Confirmation:
    """The best trial and its repetition."""

    trial: int
    own: float  # the mean score of the trial, which was the best of all
    seeds: tuple[int, ...]
    score: Estimate  # of the repetition, over seeds and deals

    @property
    def selection_bias(self) -> float:
        """How much of the trial's own score the repetition does not reach; negative if it exceeds it."""
        return self.own - self.score.mean

    def metrics(self) -> dict[str, float]:
        """Figures for the run of the sweep."""
        bounds = {"interval/sweep/confirmed_low": self.score.low, "interval/sweep/confirmed_high": self.score.high}
        return {"sweep/confirmed": self.score.mean, "sweep/selection_bias": self.selection_bias, **bounds}

    def lines(self, metric: str) -> list[str]:
        """The result in two lines."""
        seeds = ", ".join(map(str, self.seeds))
        sure = self.own < self.score.low or self.own > self.score.high
        within = "" if sure else "; its own score lies in the interval, so this may be chance"
        return [
            f"{metric} {self.score}, {len(self.seeds)} fresh seeds ({seeds}), {self.score.deals:,} fresh deals",
            f"{self.selection_bias:.3f} of the {self.own:.3f} of trial {self.trial}{within}",
        ]


def confirmed_name(config: Mapping[str, Any]) -> str:
    """The name of the trainings that repeat the best trial."""
    return f"{config['name']}_confirm"


def confirm_best(
    trial: int, own: float, searched: Values, plan: SweepPlan, store: Store, report: Callable[[str], None]
) -> Confirmation:
    """Train the best trial with `sweep.confirm` seeds that no trial had, and play each policy on fresh deals.

    `own` is the mean score of the trial, `searched` its values. Finished trainings are not repeated. Raises what
    `train_seeds` raises.
    """
    options, config = plan.options, plan.config
    report(f"trial {trial} is trained again with {options.confirm} fresh seeds")
    values = with_values(config, {**searched, "name": confirmed_name(config)})
    first = int(config["seed"]) + options.seeds
    seeds = tuple(range(first, first + options.confirm))
    below = Store(store.address, store.root, {**store.tags, "mlflow.parentRunId": plan.parent})
    trainings = train_seeds(values, seeds, below, report=report)
    experiment = build_experiment(values)
    game, arena = without_training_options(experiment.game), experiment.arena
    # The deals of the sweep have chosen the best trial, so that it is lucky on them too.
    arena = sweep_arena(replace(options, workers=1), arena, Purpose.CONFIRMATION)
    scores = [play_references(game, str(each.policy), arena, options.metric) for each in trainings]
    per_deal = [combine([score]).per_deal for score in scores]
    return Confirmation(trial, own, seeds, mean_over_seeds(per_deal, metric_bounds(game, options.metric)))
