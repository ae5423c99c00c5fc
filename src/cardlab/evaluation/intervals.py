"""How sure a mean is: 95 % intervals over deals, and when a match may stop.

The deal is the unit of sampling. All games of one deal are averaged first, so that what they share is counted once
(intervals clustered by deal); the deals are independent, and Student's t is used on their means.
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

CONFIDENCE = 0.95
FIRST_LOOK = 100
"""Deals before a match may stop. Earlier looks see variances that are too small by chance, and stop on them."""

PerDeal = NDArray[np.float64]
"""[D] one figure for each deal."""


@dataclass(frozen=True)
class Estimate:
    """A mean over deals with its 95 % interval."""

    mean: float
    low: float
    high: float
    deals: int

    @property
    def half_width(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2

    def clipped(self, low: float, high: float) -> "Estimate":
        """The same with an interval that stays within what the figure can be."""
        return Estimate(self.mean, max(low, self.low), min(high, self.high), self.deals)

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def estimate(per_deal: PerDeal) -> Estimate:
    """Mean of `per_deal` [D] and its interval, mean ± t(D − 1, 0.975) · s / √D; of infinite width for one deal."""
    mean = float(per_deal.mean())
    half = half_width(per_deal)
    return Estimate(mean, mean - half, mean + half, len(per_deal))


def half_width(per_deal: PerDeal) -> float:
    """Half the width of the 95 % interval of the mean of `per_deal` [D]; infinite for one deal."""
    deals = len(per_deal)
    if deals < 2:
        return inf
    quantile = float(stdtrit(deals - 1, (1 + CONFIDENCE) / 2))
    return quantile * float(per_deal.std(ddof=1)) / sqrt(deals)


def is_narrow(per_deal: PerDeal, until: float) -> bool:
    """Whether the interval is as narrow as `until` asks, so that the match may stop.

    The fixed-width procedure of Chow and Robbins (1965): the time of stopping is a function of the sample variance
    alone, never of the mean, and the plain interval taken then has its full coverage as `until` shrinks. A first look
    at FIRST_LOOK deals keeps it at finite widths. No variance at all (a hundred wins in a row) is no reason to stop.
    """
    if len(per_deal) < FIRST_LOOK:
        return False
    return 0 < half_width(per_deal) <= until
