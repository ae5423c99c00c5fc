"""Picture: the policies kept on the way against each other, so that a training that walks in circles is seen."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from cardlab.experiments.report.heat_map import draw_heat_map
from cardlab.experiments.report.results import Result

TITLE: str = "Past selves"


def caption(result: Result) -> str:
    """What the picture shows, in a sentence."""
    history = result.history or {}
    deals = history.get("deals", 0)
    text = (
        "Points a game that the policy after so many decisions (row) makes more than an earlier one (column), "
        f"on {deals:,} deals; bold where the 95 % interval excludes a tie. What only gets stronger is blue all over."
    )
    circles = history.get("cycles", [])
    sure = sum(circle["sure"] for circle in circles)
    if circles:
        text += f" Triples that beat each other in a circle: {len(circles)}, of which {sure} beyond doubt."
    return text


def draw(result: Result) -> Figure | None:
    """Each later policy against each earlier one; None with fewer than two."""
    history = result.history
    if history is None or not history["margins"]:
        return None
    count = len(history["decisions"])
    margins, sure = np.full((count, count), np.nan), np.zeros((count, count), dtype=np.bool_)
    for later, earlier, mean, low, high in history["margins"]:
        margins[later, earlier] = mean
        sure[later, earlier] = low > 0 or high < 0
    told = EngFormatter(sep="", places=None)
    names = [told(decisions) for decisions in _rounded(history["decisions"])]
    return draw_heat_map(names[1:], names[:-1], margins[1:, :-1], sure[1:, :-1])


def _rounded(decisions: list[int]) -> list[float]:
    """To two figures or three: what a label has room for."""
    return [float(f"{number:.3g}") for number in decisions]
