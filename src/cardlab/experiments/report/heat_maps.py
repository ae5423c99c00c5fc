"""Heat maps of pairwise margins: blue where the row is stronger, red where the column is."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from cardlab.experiments.report.drawing import DARK_TEXT, PAPER, Drawn, new_figure
from cardlab.experiments.report.read_results import Result
from cardlab.experiments.run_paths import SEED

_BLUE, _RED_ORANGE = "#0071B1", "#D45D00"  # as COLOURS[:2], but the same on a dark page: white text stands on them
_BALANCE = LinearSegmentedColormap.from_list("balance", [_RED_ORANGE, "#f7f7f7", _BLUE])
_MAX_UPRIGHT = 6  # agents with horizontal column names

Cell = tuple[int, int, float, float, float]
"""Row and column, and the row's margin over the column in points: mean, low, high."""


def draw_cross_table(tournament: Mapping[str, Any]) -> Drawn:
    """A cell for each agent and opponent of a tournament, best first."""
    agents = [standing["agent"] for standing in tournament["standings"]]
    cells = [
        (agents.index(cell["agent"]), agents.index(cell["opponent"]), cell["points"], cell["low"], cell["high"])
        for cell in tournament["cells"]
    ]
    names = [_short_name(agent) for agent in agents]
    others = tournament["num_players"] - 1
    copies = f"{others} copies of " if others > 1 else ""
    what = "minus " if not others else f"against {copies}"
    caption = (
        f"Points per game of the row's agent {what}the column's, {tournament['deals']:,} deals per pair; bold where "
        "the 95 % interval excludes 0. Strongest first, by rating."
    )
    for cycle in tournament["cycles"]:
        if cycle["sure"]:
            around = [_short_name(agent) for agent in (*cycle["agents"], cycle["agents"][0])]
            caption += f" Not transitive: {' beats '.join(around)}."
    return _heat_map(names, names, cells), caption


def _short_name(agent: str) -> str:
    """The agent's text; of a policy's folder the name of its experiment."""
    *folders, last = agent.split("/")
    return folders[-1] if folders and last.startswith(SEED) else last


def draw_snapshot_table(result: Result) -> Drawn | None:
    """Each later snapshot of a training against each earlier one, which shows cycling; None with fewer than two."""
    matches = result.snapshot_matches
    if matches is None or not matches["margins"]:
        return None
    label = EngFormatter(sep="", places=None)
    names = [label(float(f"{decisions:.3g}")) for decisions in matches["decisions"]]
    caption = (
        "Points per game of a snapshot (row, by decisions) against an earlier one (column), "
        f"{matches['deals']:,} deals; bold where the 95 % interval excludes 0. Blue: the later snapshot is stronger."
    )
    if cycles := matches["cycles"]:
        sure = sum(cycle["sure"] for cycle in cycles)
        caption += f" Non-transitive triples: {len(cycles)}, of which {sure} with all intervals above 0."
    cells = [(later - 1, earlier, *figures) for later, earlier, *figures in matches["margins"]]
    return _heat_map(names[1:], names[:-1], cells), caption


def _heat_map(rows: Sequence[str], columns: Sequence[str], cells: Iterable[Cell]) -> Figure:
    """A cell per pair with its mean; bold where its interval excludes 0."""
    margins = np.full((len(rows), len(columns)), np.nan)
    sure = np.zeros(margins.shape, dtype=np.bool_)
    for row, column, mean, low, high in cells:
        margins[row, column], sure[row, column] = mean, low > 0 or high < 0
    figure, axes = new_figure(1.2 + 0.45 * len(rows))
    most = float(np.nanmax(np.abs(margins))) or 1.0
    edges = np.arange(len(columns) + 1) - 0.5, np.arange(len(rows) + 1) - 0.5
    shown = np.ma.masked_invalid(margins)  # vectors: an image would be embedded as a file
    axes.pcolormesh(*edges, shown, cmap=_BALANCE, norm=TwoSlopeNorm(0.0, -most, most), edgecolors=PAPER, linewidth=1.5)
    axes.invert_yaxis()
    digits = 2 if most < 10 else 1 if most < 100 else 0
    for row, column in np.argwhere(np.isfinite(margins)).tolist():
        value = round(float(margins[row, column]), digits) + 0.0  # no minus zero
        axes.text(
            column,
            row,
            f"{value:+.{digits}f}",
            ha="center",
            va="center",
            fontsize=9 if len(columns) <= _MAX_UPRIGHT else 7,
            fontweight="bold" if sure[row, column] else "normal",
            color="white" if abs(value) > 0.6 * most else DARK_TEXT,
        )
    slanted = len(columns) > _MAX_UPRIGHT or max(map(len, columns)) > 8
    axes.set_yticks(range(len(rows)), rows)
    axes.set_xticks(range(len(columns)), columns, rotation=40 if slanted else 0, ha="right" if slanted else "center")
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return figure
