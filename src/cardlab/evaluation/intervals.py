"""95 % confidence intervals over deals, the stopping rule of matches, and the score that is reported first.

The deal is the sampling unit: all games of one deal are averaged first (intervals clustered by deal). Deals are
independent, and Student's t is used on their means. Intervals of bounded figures, such as shares and payoffs, stay
within their bounds and have a width there. The first score is that against the strongest reference.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri, stdtrit

CONFIDENCE = 0.95
MIN_DEALS_TO_STOP = 100
"""Deals before a match may stop: the sample variance of fewer is too often too small."""

PerDeal = NDArray[np.float64]
"""[D] one figure per deal."""

Bounds = tuple[float, float]
"""The least and the greatest value that a figure can have."""
SHARE: Bounds = (0.0, 1.0)
_TAIL = (1 - CONFIDENCE) / 2


@dataclass(frozen=True)
class Estimate:
    """A mean over deals with its 95 % interval; of several trainings, over their seeds too."""

    mean: float
    low: float
    high: float
    deals: int
    seeds: int = 1

    @property
    def half_width(self) -> float:
        """Half of the width of the interval."""
        return (self.high - self.low) / 2

    def named(self, name: str, stem: str = "") -> dict[str, float]:
        """Mean and interval under the keys `name`, `stem`low and `stem`high."""
        return {name: self.mean, f"{stem}low": self.low, f"{stem}high": self.high}

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def estimate(per_deal: PerDeal, bounds: Bounds | None = None) -> Estimate:
    """Mean of `per_deal` [D] and its interval, mean ± t(D − 1, 0.975) · s / √D; of infinite width for one deal.

    `bounds`: those of the figure of one deal; see `bounded`.
    """
    mean = float(per_deal.mean())
    return Estimate(mean, *bounded(mean, half_width(per_deal), len(per_deal), bounds), len(per_deal))


def bounded(mean: float, half: float, deals: int, bounds: Bounds | None) -> tuple[float, float]:
    """The interval mean ± `half` as one that stays within `bounds`; symmetric for None.

    Exact interval of a share with as many games as have that half-width: Korn and Graubard, Confidence intervals for
    proportions with small expected number of positive counts (1998). If all deals have one value, the ends are those
    that a rare deal at a bound would allow: 1 − 0.025^(1/D) of the way there.
    """
    if bounds is None or not isfinite(half):
        return mean - half, mean + half
    low, high = bounds
    width = high - low
    share = (mean - low) / width
    if half < _NO_SPREAD * width or not 0 < share < 1:
        rare = 1 - _TAIL ** (1 / deals)
        return mean - rare * (mean - low), mean + rare * (high - mean)
    games = share * (1 - share) * (float(ndtri(1 - _TAIL)) * width / half) ** 2
    ends = share_interval(share * games, games)
    return low + width * ends[0], low + width * ends[1]


_NO_SPREAD = 1e-9  # as part of the bounds' distance: the rounding of equal values is less


def share_interval(wins: float, games: float) -> tuple[float, float]:
    """The exact 95 % interval of a share (Clopper and Pearson 1934). It holds for few games, and if all are won."""
    low = float(betaincinv(wins, games - wins + 1, _TAIL)) if wins > 0 else 0.0
    high = float(betaincinv(wins + 1, games - wins, 1 - _TAIL)) if wins < games else 1.0
    return low, high


def half_width(per_deal: PerDeal) -> float:
    """Half the width of the 95 % interval of the mean of `per_deal` [D]; infinite for one deal."""
    deals = len(per_deal)
    if deals < 2:
        return inf
    quantile = float(stdtrit(deals - 1, (1 + CONFIDENCE) / 2))
    return quantile * float(per_deal.std(ddof=1)) / sqrt(deals)


def is_narrow(per_deal: PerDeal, until: float | None) -> bool:
    """Whether the half-width of the interval is at most `until`, so that the match may stop; never for None.

    The fixed-width procedure of Chow and Robbins (1965): stopping depends on the sample variance only, never on the
    mean, so that the plain interval keeps its coverage as `until` shrinks. MIN_DEALS_TO_STOP keeps the coverage at
    finite widths. Zero variance (a hundred wins in a row) does not stop a match.
    """
    if until is None or len(per_deal) < MIN_DEALS_TO_STOP:
        return False
    return 0 < half_width(per_deal) <= until


def confidence_sequence_interval(per_deal: PerDeal, planned: int, bounds: Bounds | None = None) -> Estimate:
    """Mean of `per_deal` [D] with an interval of a 95 % confidence sequence, narrowest near `planned` deals.

    All intervals of the sequence cover the mean simultaneously with 95 %: mean ±
    s · √(2(Dρ² + 1) / (D²ρ²) · log(√(Dρ² + 1) / α)), the Gaussian mixture boundary of Waudby-Smith et al., Time-uniform
    central limit theory and asymptotic confidence sequences (arXiv 2103.06476). Not for the first few deals.
    """
    deals = len(per_deal)
    mean, spread = float(per_deal.mean()), float(per_deal.std())
    alpha = 1 - CONFIDENCE
    weight = deals * (-2 * log(alpha) + log(-2 * log(alpha)) + 1) / planned  # Dρ²: narrowest at D = planned
    half = spread * sqrt(2 * (weight + 1) / (deals * weight) * log(sqrt(weight + 1) / alpha))
    return Estimate(mean, *bounded(mean, half, deals, bounds), deals)


def interval_metrics(name: str, estimate: Estimate) -> dict[str, float]:
    """The ends of the interval of metric `name`, under a prefix that the MLflow UI folds."""
    return {f"interval/{name}_low": estimate.low, f"interval/{name}_high": estimate.high}


def estimate_metrics(named: Mapping[str, Estimate]) -> dict[str, float]:
    """The mean of each metric by its name, and the ends of its interval where they are finite."""
    metrics = {name: estimate.mean for name, estimate in named.items()}
    for name, estimate in named.items():
        metrics |= interval_metrics(name, estimate) if isfinite(estimate.half_width) else {}
    return metrics


SELF = "self"  # the evaluated agent itself, in a game of one player

Evaluation = dict[str, Any]
"""The content of evaluation.json; see `cardlab.evaluation.evaluate.evaluate`."""


def main_score(evaluation: Evaluation) -> tuple[str, Estimate]:
    """The strongest reference and the score against it, in points per game.

    The strongest reference is the one against which the agent scores least. A single player's score is its own, and its
    reference is "self".
    """
    references = evaluation["references"]
    name = SELF if SELF in references else min(references, key=lambda each: references[each]["mean"])
    row = references[name]
    return name, Estimate(row["mean"], row["low"], row["high"], row["deals"])
