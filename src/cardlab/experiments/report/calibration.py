"""Calibration of the values of a policy against real payoffs."""

import numpy as np

from cardlab.experiments.report.drawing import COLOURS, GREY, HEIGHT, Drawn, new_figure
from cardlab.experiments.report.read_results import Result


def draw_calibration(result: Result) -> Drawn | None:
    """A point with its interval for each bin, and the diagonal; None without predictions."""
    table, statistics = result.calibration, result.game_statistics
    if not table or not len(table["predicted"]) or statistics is None:
        return None
    figure, axes = new_figure(HEIGHT)
    predicted, paid = table["predicted"], table["paid"]
    ends = [min(predicted.min(), paid.min()), max(predicted.max(), paid.max())]
    axes.plot(ends, ends, color=GREY, linewidth=1, linestyle=":", label="_")
    axes.vlines(predicted, table["low"], table["high"], color=COLOURS[0], linewidth=4, alpha=0.35)
    axes.plot(predicted, paid, color=COLOURS[0], marker="o", linestyle="none", label="_")
    heights = np.concatenate((paid, ends))
    room = 0.08 * float(np.ptp(heights)) or 0.5
    axes.set_ylim(float(heights.min()) - room, float(heights.max()) + room)
    axes.set_xlabel("predicted payoff")
    axes.set_ylabel("real payoff")
    summary = statistics["calibration"]
    return figure, (
        f"Predicted and real payoff at {summary['decisions']:,} decisions of {summary['games']:,} training games, in "
        f"bins of equal size; bars are 95 % intervals. Mean error {summary['bias']:+.2f}, explained variance "
        f"{100 * summary['explained']:.0f} %."
    )
