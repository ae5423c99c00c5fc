"""Style of all figures, and figures as inline SVG; equal data gives equal bytes."""

import re
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cardlab.evaluation.seed_statistics import Band, Curve

# M. Okabe and K. Ito, "Color Universal Design" (2008), without the yellow, which is too light for lines on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # beside the colour, for prints in grey
GREY = "#767676"
DARK_TEXT = "#1a1a1a"  # on light cells of a heat map; stays dark on a dark page
_GRID = "#e3e3e3"
PAPER = "#fffffe"  # the page's background

_VARIABLES = {COLOURS[0]: "c0", COLOURS[1]: "c1", COLOURS[2]: "c2", COLOURS[3]: "c3", COLOURS[4]: "c4",
              COLOURS[5]: "c5", COLOURS[6]: "ink", GREY: "grey", _GRID: "grid", PAPER: "paper"}  # fmt: skip
"""Colour in a figure → CSS variable of the page (report.css), which has another value on a dark screen."""

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: searchable, and read aloud
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "grid.color": _GRID,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
}
Drawn = tuple[Figure, str]
"""A picture and its caption."""

_WIDTH = 5.4  # inches: on a phone the page shrinks it little enough that its text stays readable
HEIGHT = 2.9  # inches, of pictures that need no more


@contextmanager
def report_style() -> Generator[None]:
    """The style context in which figures are made and written."""
    with matplotlib.rc_context(_STYLE):
        yield


def new_figure(height: float) -> tuple[Figure, Axes]:
    """A figure of the page's width and `height` inches, with one pair of axes."""
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    return figure, figure.add_subplot()


def new_grid(heights: Sequence[float]) -> tuple[Figure, list[Axes]]:
    """A figure of the page's width with axes of these `heights` in inches, one below the other."""
    figure = Figure(figsize=(_WIDTH, sum(heights)), layout="constrained")
    axes = figure.subplots(len(heights), squeeze=False, height_ratios=heights)
    return figure, list(axes[:, 0])


def draw_mean(axes: Axes, band: Band, seeds: Iterable[Curve], colour: str, label: str, marker: str = "") -> None:
    """The mean of several curves with its band, and each of them in a faint line where there are more than one."""
    lines = list(seeds)
    for at, scores in lines if len(lines) > 1 else ():
        axes.plot(at, scores, color=colour, linewidth=0.7, alpha=0.4, marker="", label="_")
    if np.isfinite(band.low).all():
        axes.fill_between(band.at, band.low, band.high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(band.at, band.mean, color=colour, marker=marker, label=label)


def legend_above(axes: Axes) -> None:
    """The legend above the axes, where it covers no line."""
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)


def inline_svg(figure: Figure, label: str) -> str:
    """The figure as an <svg> element to stand in a page: it scales, is called `label`, and holds no date.

    Names inside it that nothing refers to are dropped, the others hang on `label`: pictures of one page must not share
    any. Colours are CSS variables of the page, with the light colours as fallback.
    """
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": label}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    used = set(re.findall(r"#([\w-]+)", svg))
    svg = re.sub(r' id="([^"]+)"', lambda match: match[0] if match[1] in used else "", svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    for colour, name in _VARIABLES.items():
        svg = re.sub(rf"(?<=: ){colour}\b", f"var(--{name}, {colour.lower()})", svg, flags=re.IGNORECASE)
    quoted = label.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return svg.replace("<svg", f'<svg role="img" aria-label="{quoted}"', 1)
