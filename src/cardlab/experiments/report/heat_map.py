"""Heat map of pairwise margins: blue where the row is stronger, red where the column is."""

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from cardlab.experiments.report.drawing import COLOURS, new_figure

Margins = NDArray[np.float64]

_BLUE, _RED_ORANGE = COLOURS[:2]  # distinguishable with colour blindness
_BALANCE = LinearSegmentedColormap.from_list("balance", [_RED_ORANGE, "#f7f7f7", _BLUE])
_MOST_SHORT = 6  # agents with horizontal column names


def draw_heat_map(rows: Sequence[str], columns: Sequence[str], margins: Margins, sure: NDArray[np.bool_]) -> Figure:
    """A cell per pair; `margins` [R, C] in points, NaN where there is none; bold where `sure`."""
    count = len(rows)
    figure, axes = new_figure(1.2 + 0.45 * count)
    most = float(np.nanmax(np.abs(margins))) or 1.0
    edges = np.arange(len(columns) + 1) - 0.5, np.arange(count + 1) - 0.5
    shown = np.ma.masked_invalid(margins)  # vectors: an image would be embedded as a file
    axes.pcolormesh(
        *edges, shown, cmap=_BALANCE, norm=TwoSlopeNorm(0.0, -most, most), edgecolors="white", linewidth=1.5
    )
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
            fontsize=9 if len(columns) <= _MOST_SHORT else 7,
            fontweight="bold" if sure[row, column] else "normal",
            color="white" if abs(value) > 0.6 * most else "black",
        )
    slanted = len(columns) > _MOST_SHORT or max(map(len, columns)) > 8
    axes.set_yticks(range(count), rows)
    axes.set_xticks(range(len(columns)), columns, rotation=40 if slanted else 0, ha="right" if slanted else "center")
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    return figure
