"""The experiments of a game, best first: whether the best is decided, and a picture of their intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any

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


Tournament = Mapping[str, Any]
"""The content of a tournament.json, as `read_tournaments` gives it."""


@dataclass(frozen=True)
class Ranking:
    """The experiments of one game, best first, with the tournaments that they played."""

    name: str
    results: Sequence[Result]
    tournaments: Sequence[Tournament]

    def margin(self, result: Result) -> Estimate | None:
        """Points per game of `result` minus, or against, the first; None if they did not play each other."""
        first = self.results[0]
        agents = [result.first_policy, first.first_policy]
        cells = [cell for table in self.tournaments for cell in table["cells"]]
        for cell in cells:
            if [cell["agent"], cell["opponent"]] == agents:
                met = Estimate(cell["points"], cell["low"], cell["high"], cell["deals"])
                return _difference(result, first, met) if result.alone else met
        return None

    @property
    def verdict(self) -> str:
        """Whether the first is the best, by the head-to-head margins of the others."""
        margins = {result.name: self.margin(result) for result in self.results[1:]}
        stronger = [name for name, margin in margins.items() if margin and margin.low > 0]
        if not margins:
            return "only experiment"
        if stronger:
            return f"loses to {', '.join(stronger)}"
        return "best" if all(margin and margin.high < 0 for margin in margins.values()) else "not decided"

    @property
    def scale(self) -> tuple[float, float]:
        """Ends of an axis on which all intervals and the strongest reference fit."""
        scores = [result.main_score[1] for result in self.results]
        levels = [result.strongest_reference[1] for result in self.results]
        low, high = min(levels + [score.low for score in scores]), max(levels + [score.high for score in scores])
        room = 0.08 * (high - low) or 1.0
        return low - room, high + room


def by_game(results: Sequence[Result], tournaments: Sequence[Tournament]) -> list[Ranking]:
    """The games in the order of `results`; the experiments of each by main score."""
    ranked = sorted(results, key=lambda result: -result.main_score[1].mean)
    return [
        Ranking(
            name,
            [result for result in ranked if result.game == name],
            [tournament for tournament in tournaments if tournament["game"] == name],
        )
        for name in dict.fromkeys(result.game for result in results)
    ]


def _difference(result: Result, first: Result, met: Estimate) -> Estimate:
    """Difference of two scores of single players: of the evaluations if they have the same and more deals, else `met`.

    The interval takes the scores as independent: on the same deals it is rather too wide.
    """
    one, other = result.main_score[1], first.main_score[1]
    if result.evaluation["seed"] != first.evaluation["seed"] or min(one.deals, other.deals) <= met.deals:
        return met
    mean, half = one.mean - other.mean, hypot(one.half_width, other.half_width)
    return Estimate(mean, mean - half, mean + half, min(one.deals, other.deals))
