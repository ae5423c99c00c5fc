"""Picture: calibration of the values of a policy against real payoffs."""

import numpy as np
from matplotlib.figure import Figure

from cardlab.experiments.report.drawing import COLOURS, GREY, new_figure
from cardlab.experiments.report.results import Result

TITLE: str = "Calibration of values"


def caption(result: Result) -> str:
    """One sentence that explains the picture."""
    told = {
        "decisions": 0,
        "games": 0,
        "bias": 0.0,
        "explained": 0.0,
        **(result.game_statistics or {}).get("calibration", {}),
    }
    return (
        f"Expected and real payoff at {told['decisions']:,} decisions of {told['games']:,} games like those of the "
        f"training, in bins of equal number with 95 % intervals. Values are {told['bias']:+.2f} off on average and "
        f"foretell {100 * told['explained']:.0f} % of the variance."
    )


def draw(result: Result) -> Figure | None:
    """A point with its interval for each bin, and the diagonal; None when nothing was forecast."""
    table = result.calibration
    if not table or not len(table["predicted"]):
        return None
    figure, axes = new_figure(3.1)
    predicted, paid = table["predicted"], table["paid"]
    ends = [min(predicted.min(), paid.min()), max(predicted.max(), paid.max())]
    axes.plot(ends, ends, color=GREY, linewidth=1, linestyle=":", label="as expected")
    axes.vlines(predicted, table["low"], table["high"], color=COLOURS[0], linewidth=4, alpha=0.35)
    axes.plot(predicted, paid, color=COLOURS[0], marker="o", linestyle="none", label=f"{result.name}")
    heights = np.concatenate((paid, ends))
    room = 0.08 * float(np.ptp(heights)) or 0.5
    axes.set_ylim(float(heights.min()) - room, float(heights.max()) + room)
    axes.set_xlabel("expected payoff")
    axes.set_ylabel("real payoff")
    return figure
