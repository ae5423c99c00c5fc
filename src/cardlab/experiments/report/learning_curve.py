"""Picture: how strong a policy was while it learned, with the band of its 95 % intervals."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, PercentFormatter

from cardlab.experiments.report.drawing import COLOURS, GREY, MARKERS, new_figure
from cardlab.experiments.report.results import Result

TITLE: str = "Learning curve"


def caption(result: Result) -> str:
    """One sentence that explains the picture."""
    deals = result.config["trainer"]["evaluation_deals"]
    measure = "Points by the policy itself" if result.alone else "Matches won against each reference"
    return f"{measure} as it learns, on {deals:,} deals a point; the band is the 95 % interval."


def draw(result: Result) -> Figure | None:
    """A line with its band for each reference; None when no point was measured."""
    names = _series(result)
    if not names:
        return None
    figure, axes = new_figure(3.1)
    decisions = result.curve["decisions"]
    for index, name in enumerate(names):
        colour = COLOURS[index % len(COLOURS)]
        mean, low, high = (result.curve[key] for key in (name, f"interval/{name}_low", f"interval/{name}_high"))
        axes.fill_between(decisions, low, high, color=colour, alpha=0.18, linewidth=0)
        label = name.split("/", 1)[1]
        axes.plot(decisions, mean, color=colour, marker=MARKERS[index % len(MARKERS)], label=label)
    axes.set_xlabel("decisions")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    if result.alone:
        axes.set_ylabel("points")
    else:
        axes.set_ylabel("matches won")
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
        axes.axhline(result.fair_share, color=GREY, linewidth=1, linestyle=":")
        axes.legend(loc="best")
    return figure


def _series(result: Result) -> list[str]:
    """Columns with a mean that has its interval beside it: win rates, or for one player points."""
    stem = "score/" if result.alone else "win_rate/"
    means = [name for name in result.curve if name.startswith(stem) and f"interval/{name}_low" in result.curve]
    return [name for name in means if np.isfinite(result.curve[name]).any()]
