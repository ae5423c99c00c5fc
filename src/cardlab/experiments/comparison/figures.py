"""A comparison of methods: effect sizes, data for JSON, and tables for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log2
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text  # a name may look like markup

from cardlab.evaluation.intervals import Estimate
from cardlab.evaluation.seed_statistics import MAX_SEEDS, contrast, iqm_over_seeds
from cardlab.experiments.comparison.compare import EqualBudget, Method, MethodComparison, MethodPair

MIN_VALUES = 3
"""With two values, the comparison of the two methods says all."""
_LOG_RATIO = 10  # values above 0 that span more are compared by their logarithms


@dataclass(frozen=True)
class Effect:
    """Scores over the values of one option, in increasing order."""

    key: str
    values: tuple[float, ...]
    scores: tuple[Estimate, ...]
    is_log: bool  # the trend is over the logarithms of the values
    trend: Estimate  # change of the score from the least to the greatest value, by a straight line
    best: float
    worse: tuple[float, ...]  # values that are decided to be worse than the best one
    more_seeds: int | None  # that would decide between the best value and each other one
    is_equal: bool  # all values have the same mean score on every deal

    @property
    def verdict(self) -> str:
        """One sentence: a trend, a best value, or what would decide."""
        if self.is_equal:
            return f"{self.key}: the same score at every value"
        found: list[str] = []
        if self.trend.low > 0 or self.trend.high < 0:
            direction = "rises" if self.trend.mean > 0 else "falls"
            ends = f"95 % interval {self.trend.low:+.3f} to {self.trend.high:+.3f}"
            span = f"from {self.values[0]:g} to {self.values[-1]:g}"
            found.append(f"the score {direction} with it: {self.trend.mean:+.3f} points {span}, {ends}")
        if self.worse:
            every = len(self.worse) == len(self.values) - 1
            found.append(f"{self.best:g} is better than {'each other value' if every else _listed(self.worse)}")
        if not found:
            found.append("no effect is decided")
        if len(self.worse) < len(self.values) - 1:
            found.append(self._advice())
        return f"{self.key}: {'; '.join(found)}"

    def _advice(self) -> str:
        if any(score.seeds < 2 for score in self.scores):
            return "train at least 3 seeds of each value"
        if self.more_seeds == 0:
            return "more deals would decide which is best"
        if self.more_seeds is None:
            return f"{MAX_SEEDS:,} more seeds of each value would not decide which is best, more deals may"
        plural = "s" if self.more_seeds > 1 else ""
        return f"about {self.more_seeds:,} more seed{plural} of each value would decide which is best"


def find_effect(comparison: MethodComparison) -> Effect | None:
    """The effect of the option in which the methods differ; None unless it is the only one, numeric, of 3 values."""
    key, values = _single_key(comparison)
    if len(set(values)) < max(MIN_VALUES, len(comparison.methods)):
        return None
    ordered = sorted(zip(values, comparison.methods, strict=True), key=lambda pair: pair[0])
    places = [value for value, _ in ordered]
    is_log = places[0] > 0 and places[-1] > _LOG_RATIO * places[0]
    scale = np.array([log2(place) for place in places] if is_log else places)
    from_mean = scale - scale.mean()
    weights = from_mean / (from_mean**2).sum() * (scale[-1] - scale[0])
    tables = [method.scores[comparison.against] for _, method in ordered]
    by_name = {method.name: value for value, method in ordered}
    pairs = comparison.pairs
    return Effect(
        key,
        tuple(places),
        tuple(comparison.score(method) for _, method in ordered),
        is_log,
        contrast(tables, weights.tolist()),
        by_name[comparison.ranked[0].name],
        tuple(sorted(by_name[pair.other] for pair in pairs if pair.is_decided)),
        _more_seeds(pairs),
        all(pair.is_equal for pair in pairs),
    )


def _single_key(comparison: MethodComparison) -> tuple[str, list[float]]:
    """The one key that differs and its values; no values for several keys, or for what is no number."""
    if comparison.differing is None or len(comparison.differing) != 1:
        return "", []
    ((key, texts),) = comparison.differing
    try:
        return key, [float(text) for text in texts]
    except ValueError:
        return key, []


def _more_seeds(pairs: Sequence[MethodPair]) -> int | None:
    needed = [pair.more_seeds for pair in pairs]
    return None if None in needed else max(each or 0 for each in needed)


def _listed(values: Sequence[float]) -> str:
    *rest, last = (f"{value:g}" for value in values)
    return f"{', '.join(rest)} and {last}" if rest else last


FORMAT = 1


def comparison_figures(comparison: MethodComparison, *, costs: bool = True) -> dict[str, Any]:
    """The comparison as data for JSON, without paths or run ids; ends of an infinite interval are null.

    `costs`: with CPU minutes, which differ from machine to machine.
    """
    budgets = {"equal_decisions": comparison.equal_budget()}
    if costs:
        budgets["equal_cpu_minutes"] = comparison.equal_budget(over_cpu=True)
    return {
        "format": FORMAT,
        "game": comparison.game.spec.name,
        "num_players": comparison.game.spec.num_players,
        "deals": comparison.deals,
        "seed": comparison.arena.seed,
        "against": comparison.against,
        "methods": [_method_figures(comparison, method, costs) for method in comparison.methods],
        "pairs": [_pair_figures(pair) for pair in comparison.pairs],
        **{key: budget and _budget_figures(budget) for key, budget in budgets.items()},
        **({comparison.exact[0]: _named_each(comparison.exact_scores())} if comparison.exact else {}),
        "effect": (effect := find_effect(comparison)) and _effect_figures(effect),
        "differing": None if comparison.differing is None else {key: [*values] for key, values in comparison.differing},
    }


def _method_figures(comparison: MethodComparison, method: Method, costs: bool) -> dict[str, Any]:
    tables = method.scores
    minutes = {"cpu_minutes": method.cpu_minutes and round(method.cpu_minutes, 2)} if costs else {}
    return {
        "name": method.name,
        "seeds": method.seeds,
        "policy_digests": method.digests,
        **minutes,
        **_named(comparison.score(method), "score"),
        **_named(iqm_over_seeds(tables[comparison.against], comparison.game.spec.payoff_range), "iqm", "iqm_"),
        "by_seed": [float(row.mean()) for row in tables[comparison.against]],
        "references": {each: _named(comparison.score(method, each), "mean") for each in tables},
    }


def _pair_figures(pair: MethodPair) -> dict[str, Any]:
    return {
        "best": pair.best,
        "other": pair.other,
        **_named(pair.points, "difference", "difference_"),
        **_named(pair.improvement, "probability_of_improvement", "probability_of_improvement_"),
        "decided": pair.is_decided,
        "more_seeds": pair.more_seeds,
        "verdict": pair.verdict,
    }


def _effect_figures(effect: Effect) -> dict[str, Any]:
    scores = zip(effect.values, effect.scores, strict=True)
    return {
        "key": effect.key,
        "scores": [{"value": value, **_named(score, "mean")} for value, score in scores],
        **_named(effect.trend, "trend", "trend_"),
        "best": effect.best,
        "worse": [*effect.worse],
        "verdict": effect.verdict,
    }


def _budget_figures(budget: EqualBudget) -> dict[str, Any]:
    return {"at": budget.place, "scores": _named_each(budget.scores)}


def _named_each(scores: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: _named(score, "mean") for name, score in scores.items()}


def _named(value: Estimate, name: str, stem: str = "") -> dict[str, float | None]:
    return {key: each if isfinite(each) else None for key, each in value.named(name, stem).items()}


def comparison_tables(comparison: MethodComparison) -> Iterator[Table]:
    """Tables for `rich.console.Console.print`: the scores, the pairs, and the parameters that differ."""
    against = "" if comparison.is_alone else f" against {comparison.against}"
    table = Table(title=Text(f"{comparison.game.spec.name}{against}, {comparison.deals:,} deals"))
    budgets = [comparison.equal_budget(), comparison.equal_budget(over_cpu=True)]
    units = ["decisions", "CPU min"]
    table.add_column("method", overflow="fold")
    for heading in ("seeds", "points", "95 %"):
        table.add_column(heading, justify="right")
    for budget, unit in zip(budgets, units, strict=True):
        if budget is not None:
            table.add_column(f"at {short_number(budget.place)}\n{unit}", justify="right")
    exact = comparison.exact_scores()
    if comparison.exact:
        table.add_column(comparison.exact[0], justify="right")
        table.add_column("95 %", justify="right")
    for method in comparison.ranked:
        score = comparison.score(method)
        at = [f"{budget.scores[method.name].mean:.3f}" for budget in budgets if budget is not None]
        if exact:
            at += [f"{exact[method.name].mean:.3f}", _interval(exact[method.name])]
        table.add_row(Text(method.name), str(method.seeds), f"{score.mean:.3f}", _interval(score), *at)
    yield table
    table = Table()
    table.add_column(Text(f"{comparison.ranked[0].name} minus"), overflow="fold")
    for heading in ("points", "95 %", "probability of\nimprovement", "95 %"):
        table.add_column(heading, justify="right")
    for pair in comparison.pairs:
        better = pair.improvement
        figures = (f"{pair.points.mean:+.3f}", _interval(pair.points), f"{better.mean:.2f}", _interval(better))
        table.add_row(Text(pair.other), *figures)
    yield table
    if comparison.differing:
        yield _differing_table(comparison)


def _differing_table(comparison: MethodComparison) -> Table:
    shared, own = comparison.differing_keys
    table = Table(title="what differs in configuration")
    for heading in ("parameter", *(method.name for method in comparison.methods)):
        table.add_column(Text(heading), overflow="fold")
    for key, values in shared:
        table.add_row(key, *map(Text, values))
    if own:
        counts = [str(sum(bool(values[place]) for _, values in own)) for place in range(len(comparison.methods))]
        table.add_row("options that not all have (see the page)", *counts)
    return table


def _interval(estimate: Estimate) -> str:
    return f"{estimate.low:.3f} to {estimate.high:.3f}" if isfinite(estimate.half_width) else "one seed"


def short_number(number: float) -> str:
    """`1.05M`, `256k`, `12`, `0.42`: three digits."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= 0.9995 * size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"
