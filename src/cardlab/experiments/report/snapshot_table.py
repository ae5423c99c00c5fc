"""Picture: the snapshots of a training against each other, which shows cycling."""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from cardlab.experiments.report.heat_map import draw_heat_map
from cardlab.experiments.report.results import Result

TITLE: str = "Snapshots against each other"


def caption(result: Result) -> str:
    """One sentence that explains the picture."""
    history = result.snapshot_matches or {}
    deals = history.get("deals", 0)
    text = (
        "Points per game of a snapshot (row, by decisions) over an earlier one (column), "
        f"on {deals:,} deals; bold where the 95 % interval excludes 0. Blue: the later snapshot is stronger."
    )
    circles = history.get("cycles", [])
    sure = sum(circle["sure"] for circle in circles)
    if circles:
        text += f" Non-transitive triples: {len(circles)}, of which {sure} with all intervals above 0."
    return text


def draw(result: Result) -> Figure | None:
    """Each later policy against each earlier one; None with fewer than two."""
    history = result.snapshot_matches
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
