"""Pictures of scores: intervals by reference, and heat maps of matches between agents or snapshots."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from cardlab.agents.specs import SEED
from cardlab.evaluation.intervals import SELF, Estimate
from cardlab.experiments.report.drawing import COLOURS, DARK_TEXT, GREY, HEIGHT, MARKERS, PAPER, Drawn, new_figure
from cardlab.experiments.report.read_results import Result

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


_ROW = 0.24  # inches for a score
_HEAD = 0.6  # for the axis
Group = tuple[str, list[tuple[int | None, Estimate]]]
"""A label, and scores with the places of their experiments (None: a reference)."""


def draw_score_intervals(results: Sequence[Result]) -> Drawn:
    """A group of rows per reference, with one row per experiment; one player: a row per agent."""
    alone = results[0].alone
    groups = _own_scores(results) if alone else _scores_by_reference(results)
    rows = sum(len(scores) + 0.7 for _, scores in groups)
    figure, axes = new_figure(max(HEIGHT, _HEAD + _ROW * rows))
    top, ticks = 0.0, list[float]()
    for _, scores in groups:
        ticks.append(top + (len(scores) - 1) / 2)
        for row, (place, score) in enumerate(scores):
            _draw_score(axes, top + row, score, place)
        top += len(scores) + 0.7
    axes.set_yticks(ticks, [label for label, _ in groups])
    axes.set_ylim(top - 0.9, -0.8)
    axes.margins(x=0.25)
    axes.grid(visible=False, axis="y")
    if not alone:
        axes.axvline(0, color=GREY, linewidth=1, linestyle=":")
    axes.set_xlabel("points per game")
    deals = " or ".join(f"{n:,}" for n in sorted({score.deals for _, scores in groups for _, score in scores}))
    what = "Points per game" if alone else "Points per game against each reference"
    return figure, f"{what}, {deals} deals; bars are 95 % intervals over seeds and deals."


def _own_scores(results: Sequence[Result]) -> list[Group]:
    """Each experiment, then each reference once: its score on the same deals depends on no experiment."""
    references = {name: each.points(name) for each in results for name in each.evaluation["references"] if name != SELF}
    own: list[Group] = [(result.name, [(place, result.points(SELF))]) for place, result in enumerate(results)]
    return own + [(name, [(None, score)]) for name, score in references.items()]


def _scores_by_reference(results: Sequence[Result]) -> list[Group]:
    groups: dict[str, list[tuple[int | None, Estimate]]] = {}
    for place, result in enumerate(results):
        for name in result.evaluation["references"]:
            groups.setdefault(name, []).append((place, result.points(name)))
    return list(groups.items())


def _draw_score(axes: Axes, height: float, score: Estimate, place: int | None) -> None:
    """A marker, a bar for its interval, and both as text; `place` of the experiment, None for a reference."""
    colour = GREY if place is None else COLOURS[place % len(COLOURS)]
    marker = "d" if place is None else MARKERS[place % len(MARKERS)]
    axes.plot([score.low, score.high], [height, height], color=colour, linewidth=5, alpha=0.4, solid_capstyle="butt")
    axes.plot([score.mean], [height], color=colour, marker=marker, linestyle="none")
    text = f"{score.mean:.2f} ± {score.half_width:.2f}"
    axes.annotate(text, (score.high, height), (7, 0), textcoords="offset points", va="center", fontsize=8)
