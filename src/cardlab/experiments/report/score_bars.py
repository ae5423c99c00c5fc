"""Picture: how strong the finished policy is against its references, with 95 % intervals."""

from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from cardlab.experiments.report.drawing import COLOURS, GREY, new_figure
from cardlab.experiments.report.results import SELF, Interval, Result

TITLE: str = "Strength"


def caption(result: Result) -> str:
    """One sentence that explains the picture."""
    seed = result.evaluation["seed"]
    if result.alone:
        return f"Mean points of the policy and of other agents on the same deals (seed {seed}), with 95 % intervals."
    return f"Matches won against each reference, every deal at several seatings (seed {seed}), with 95 % intervals."


def draw(result: Result) -> Figure:
    """A point with its interval for each reference, from top to bottom."""
    rows = [(_label(result, name), _measure(result, name)) for name in result.references]
    figure, axes = new_figure(1.0 + 0.42 * len(rows))
    for index, (_, value) in enumerate(rows):
        colour = COLOURS[0] if index == 0 or not result.alone else COLOURS[1]
        axes.plot([value.low, value.high], [index, index], color=colour, linewidth=5, alpha=0.35, solid_capstyle="butt")
        axes.plot([value.mean], [index], color=colour, marker="o", markersize=7)
    axes.set_yticks(range(len(rows)), [label for label, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    if result.alone:
        axes.set_xlabel("points")
    else:
        axes.set_xlabel("matches won")
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0))
        axes.axvline(result.fair_share, color=GREY, linewidth=1, linestyle=":")
    return figure


def _label(result: Result, name: str) -> str:
    return result.name if name == SELF else name


def _measure(result: Result, name: str) -> Interval:
    return result.win_rate(name) or result.points(name)
