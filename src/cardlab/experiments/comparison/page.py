"""The page of a comparison: the verdicts, the scores, the learning curves and what differs, in one HTML file."""

from collections.abc import Mapping
from itertools import cycle
from pathlib import Path

from matplotlib.ticker import EngFormatter

from cardlab.evaluation.seed_statistics import band_over_seeds
from cardlab.experiments.comparison.compare import MethodComparison
from cardlab.experiments.comparison.figures import short_number
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
    titles = {"Scores over decisions": False, "Scores over CPU time": True}
    with report_style():
        pictures = [
            {"title": title, "caption": drawn[1], "svg": inline_svg(drawn[0], title)}
            for title, over_cpu in titles.items()
            if (drawn := draw_curves(comparison, over_cpu=over_cpu)) is not None
        ]
    budgets = {
        f"{short_number(budget.place)} {unit}": budget
        for unit, budget in (
            ("decisions", comparison.equal_budget()),
            ("CPU min", comparison.equal_budget(over_cpu=True)),
        )
        if budget is not None
    }
    values = {"comparison": comparison, "pictures": pictures, "budgets": budgets, "lineage": lineage}
    render_page("comparison.html.j2", path, run_link=run_link, **values)


def draw_curves(comparison: MethodComparison, *, over_cpu: bool) -> Drawn | None:
    """The mean learning curve of each method with its band over seeds, and those of its seeds in a faint colour.

    None unless all policies have such a curve.
    """
    curves = comparison.curves(over_cpu=over_cpu)
    if not curves:
        return None
    figure, axes = new_figure(HEIGHT)
    for colour, (name, each) in zip(cycle(COLOURS), curves.items(), strict=False):
        draw_mean(axes, band_over_seeds(each), each, colour, name)
    axes.set_xlabel("CPU minutes" if over_cpu else "decisions")
    if not over_cpu:
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    measure = "points per game" + ("" if comparison.is_alone else f" against {comparison.against}")
    axes.set_ylabel(measure)
    legend_above(axes)
    what = "CPU time of a training, evaluations included" if over_cpu else "decisions"
    return figure, (
        f"{measure.capitalize()} over {what}: means over seeds with 95 % bands, thin lines are single seeds, all on "
        "the deals of the learning curves."
    )
