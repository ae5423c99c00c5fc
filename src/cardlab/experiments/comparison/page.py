"""The page of a comparison: the verdicts, the scores, the learning curves and what differs, in one HTML file."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from cardlab.evaluation.seed_statistics import Curve, band_over_seeds
from cardlab.experiments.comparison.compare import MethodComparison
from cardlab.experiments.comparison.figures import Effect, find_effect, short_number
from cardlab.experiments.report.drawing import (
    COLOURS,
    HEIGHT,
    Drawn,
    draw_mean,
    inline_svg,
    legend_above,
    new_figure,
    report_style,
)
from cardlab.experiments.report.page import render_page
from cardlab.tracking.policy_lookup import run_link


def write_comparison_page(comparison: MethodComparison, lineage: Mapping[str, str], path: Path) -> None:
    """Write the page to `path`; it opens offline. `lineage`: tags that say which code compared."""
    titles, effect = {"Scores over decisions": False, "Scores over CPU time": True}, find_effect(comparison)
    with report_style():
        pictures = [] if effect is None else [_effect_picture(effect, comparison)]
        pictures += [
            {"title": title, "caption": drawn[1], "svg": inline_svg(drawn[0], title)}
            for title, over_cpu in titles.items()
            if (drawn := draw_curves(comparison, over_cpu=over_cpu)) is not None
        ]
        pictures += [] if comparison.exact is None else [_exact_picture(*comparison.exact)]
    budgets = {
        f"{short_number(budget.place)} {unit}": budget
        for unit, budget in (
            ("decisions", comparison.equal_budget()),
            ("CPU min", comparison.equal_budget(over_cpu=True)),
        )
        if budget is not None
    }
    exact = comparison.exact_scores()
    values = {
        "comparison": comparison,
        "exact": exact,
        "effect": effect,
        "pictures": pictures,
        "budgets": budgets,
        "lineage": lineage,
    }
    render_page("comparison.html.j2", path, run_link=run_link, **values)


def _effect_picture(effect: Effect, comparison: MethodComparison) -> dict[str, str]:
    """The score over the values of the option, with intervals over seeds and deals."""
    figure, axes = new_figure(HEIGHT)
    means = [score.mean for score in effect.scores]
    ends = [[score.mean - score.low for score in effect.scores], [score.high - score.mean for score in effect.scores]]
    axes.errorbar(effect.values, means, yerr=ends, color=COLOURS[0], marker="o", capsize=3)
    if effect.is_log:
        axes.set_xscale("log")
    axes.set_xlabel(effect.key)
    axes.set_ylabel(_measure(comparison))
    title, caption = f"Score over {effect.key}", "Means over seeds with 95 % intervals over seeds and deals."
    return {"title": title, "caption": caption, "svg": inline_svg(figure, title)}


def _exact_picture(name: str, curves: Mapping[str, Sequence[Curve]]) -> dict[str, str]:
    title = f"{name} over decisions"
    caption = "Exact, of the policy as it samples: means over seeds with 95 % bands, thin lines are single seeds."
    return {"title": title, "caption": caption, "svg": inline_svg(_draw(curves, name), title)}


def _measure(comparison: MethodComparison) -> str:
    return "points per game" + ("" if comparison.is_alone else f" against {comparison.against}")


def draw_curves(comparison: MethodComparison, *, over_cpu: bool) -> Drawn | None:
    """The mean learning curve of each method with its band over seeds, and those of its seeds in a faint colour.

    None unless all policies have such a curve.
    """
    curves = comparison.curves(over_cpu=over_cpu)
    if not curves:
        return None
    measure = _measure(comparison)
    figure = _draw(curves, measure, over_cpu=over_cpu)
    what = "CPU time of a training, evaluations included" if over_cpu else "decisions"
    return figure, (
        f"{measure.capitalize()} over {what}: means over seeds with 95 % bands, thin lines are single seeds, all on "
        "the deals of the learning curves."
    )


def _draw(curves: Mapping[str, Sequence[Curve]], measure: str, *, over_cpu: bool = False) -> Figure:
    figure, axes = new_figure(HEIGHT)
    for colour, (name, each) in zip(cycle(COLOURS), curves.items(), strict=False):
        draw_mean(axes, band_over_seeds(each), each, colour, name)
    axes.set_xlabel("CPU minutes" if over_cpu else "decisions")
    if not over_cpu:
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_ylabel(measure)
    legend_above(axes)
    return figure
