"""Final scores of a game's experiments against each reference, with 95 % intervals."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from cardlab.evaluation.intervals import SELF, Estimate
from cardlab.experiments.report.drawing import COLOURS, GREY, HEIGHT, MARKERS, Drawn, new_figure
from cardlab.experiments.report.read_results import Result

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
