"""The main table of the report: the experiments of each game, best first, and how far the others are behind."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import hypot
from typing import Any

from cardlab.evaluation.intervals import Estimate
from cardlab.experiments.report.read_results import Result

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
