"""The effect of one numeric option on the score, from methods that differ in nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

import numpy as np

from cardlab.evaluation.intervals import Estimate
from cardlab.evaluation.seed_statistics import MAX_SEEDS, contrast
from cardlab.experiments.comparison.compare import MethodComparison, MethodPair

MIN_VALUES = 3
"""With two values, the comparison of the two methods says all."""
_LOG_RATIO = 10  # values above 0 that span more are compared by their logarithms


@dataclass(frozen=True)
class Effect:
    """Scores over the values of one option, in increasing order."""

    key: str
    values: tuple[float, ...]
    scores: tuple[Estimate, ...]
    is_log: bool  # the trend is over the logarithms of the values
    trend: Estimate  # change of the score from the least to the greatest value, by a straight line
    best: float
    worse: tuple[float, ...]  # values that are decided to be worse than the best one
    more_seeds: int | None  # that would decide between the best value and each other one

    @property
    def verdict(self) -> str:
        """One sentence: a trend, a best value, or what would decide."""
        found: list[str] = []
        if self.trend.low > 0 or self.trend.high < 0:
            direction = "rises" if self.trend.mean > 0 else "falls"
            ends = f"95 % interval {self.trend.low:+.3f} to {self.trend.high:+.3f}"
            span = f"from {self.values[0]:g} to {self.values[-1]:g}"
            found.append(f"the score {direction} with it: {self.trend.mean:+.3f} points {span}, {ends}")
        if self.worse:
            every = len(self.worse) == len(self.values) - 1
            found.append(f"{self.best:g} is better than {'each other value' if every else _listed(self.worse)}")
        if not found:
            found.append("no effect is decided")
        if len(self.worse) < len(self.values) - 1:
            found.append(self._advice())
        return f"{self.key}: {'; '.join(found)}"

    def _advice(self) -> str:
        if any(score.seeds < 2 for score in self.scores):
            return "train at least 3 seeds of each value"
        if self.more_seeds == 0:
            return "more deals would decide which is best"
        if self.more_seeds is None:
            return f"{MAX_SEEDS:,} more seeds of each value would not decide which is best, more deals may"
        plural = "s" if self.more_seeds > 1 else ""
        return f"about {self.more_seeds:,} more seed{plural} of each value would decide which is best"


def find_effect(comparison: MethodComparison) -> Effect | None:
    """The effect of the option in which the methods differ; None unless it is the only one, numeric, of 3 values."""
    key, values = _single_key(comparison)
    if len(set(values)) < max(MIN_VALUES, len(comparison.methods)):
        return None
    ordered = sorted(zip(values, comparison.methods, strict=True), key=lambda pair: pair[0])
    places = [value for value, _ in ordered]
    is_log = places[0] > 0 and places[-1] > _LOG_RATIO * places[0]
    scale = np.array([log2(place) for place in places] if is_log else places)
    from_mean = scale - scale.mean()
    weights = from_mean / (from_mean**2).sum() * (scale[-1] - scale[0])
    tables = [method.scores[comparison.against] for _, method in ordered]
    by_name = {method.name: value for value, method in ordered}
    pairs = comparison.pairs
    return Effect(
        key,
        tuple(places),
        tuple(comparison.score(method) for _, method in ordered),
        is_log,
        contrast(tables, weights.tolist()),
        by_name[comparison.ranked[0].name],
        tuple(sorted(by_name[pair.other] for pair in pairs if pair.is_decided)),
        _more_seeds(pairs),
    )


def _single_key(comparison: MethodComparison) -> tuple[str, list[float]]:
    """The one key that differs and its values; no values for several keys, or for what is no number."""
    if comparison.differing is None or len(comparison.differing) != 1:
        return "", []
    ((key, texts),) = comparison.differing
    try:
        return key, [float(text) for text in texts]
    except ValueError:
        return key, []


def _more_seeds(pairs: Sequence[MethodPair]) -> int | None:
    needed = [pair.more_seeds for pair in pairs]
    return None if None in needed else max(each or 0 for each in needed)


def _listed(values: Sequence[float]) -> str:
    *rest, last = (f"{value:g}" for value in values)
    return f"{', '.join(rest)} and {last}" if rest else last
