"""Bars of how strong the finished policy is against its references, with 95 % intervals."""

from matplotlib.ticker import PercentFormatter

from cardlab.experiments.report.drawing import COLOURS, GREY, Drawn, new_figure
from cardlab.experiments.report.read_results import SELF, Result


def draw_score_bars(result: Result) -> Drawn:
    """A point with its interval for each reference, from top to bottom."""
    names = list(result.evaluation["references"])
    figure, axes = new_figure(1.0 + 0.42 * len(names))
    for index, name in enumerate(names):
        value = result.win_rate(name) or result.points(name)
        colour = COLOURS[0] if index == 0 or not result.alone else COLOURS[1]
        axes.plot([value.low, value.high], [index, index], color=colour, linewidth=5, alpha=0.35, solid_capstyle="butt")
        axes.plot([value.mean], [index], color=colour, marker="o", markersize=7)
    axes.set_yticks(range(len(names)), [result.name if name == SELF else name for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    seed = result.evaluation["seed"]
    if result.alone:
        axes.set_xlabel("points")
        what = "Mean points of the policy and of other agents on the same deals"
    else:
        axes.set_xlabel("matches won")
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0))
        axes.axvline(result.fair_share, color=GREY, linewidth=1, linestyle=":")
        what = "Matches won against each reference, every deal at several seatings"
    return figure, f"{what} (seed {seed}), with 95 % intervals."
