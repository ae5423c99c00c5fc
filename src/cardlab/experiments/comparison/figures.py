"""A comparison of methods as data for JSON and as tables for a terminal."""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from rich.table import Table
from rich.text import Text  # a name may look like markup

from cardlab.evaluation.intervals import Estimate
from cardlab.evaluation.seed_statistics import iqm_over_seeds
from cardlab.experiments.comparison.compare import EqualBudget, Method, MethodComparison, MethodPair
from cardlab.experiments.comparison.effect import Effect, find_effect

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
