"""Ratings of agents from their duels, and non-transitive triples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from openskill.models import PlackettLuce

MAX_RATED_DEALS = 500  # per pairing: with more, sigma becomes meaninglessly small

Duels = NDArray[np.int8]
"""[D] 1 where the first agent of a pairing did better on a deal, −1 where the second did, 0 for a tie."""


@dataclass(frozen=True)
class Rating:
    """A normal distribution of skill on openskill's scale (25 ± 25/3 before the first game)."""

    name: str
    mu: float
    sigma: float

    @property
    def ordinal(self) -> float:
        """A conservative rating: mu − 3 sigma."""
        return self.mu - 3 * self.sigma


def rate(names: Sequence[str], duels: Mapping[tuple[int, int], Duels]) -> list[Rating]:
    """Ratings of `names`, best first, by the Plackett-Luce model of Weng and Lin (2011).

    `duels` holds the pairings (i, j), i < j. One deal of every pairing is rated in turn, since later games count more;
    at most MAX_RATED_DEALS deals of each.
    """
    model = PlackettLuce()
    ratings = [model.rating(name=name) for name in names]
    rounds = max((len(outcomes) for outcomes in duels.values()), default=0)
    for deal in range(min(rounds, MAX_RATED_DEALS)):
        for (first, second), outcomes in sorted(duels.items()):
            if deal < len(outcomes):
                ranks = [1.0 - outcomes[deal], 1.0]
                teams = model.rate([[ratings[first]], [ratings[second]]], ranks=ranks)
                (ratings[first],), (ratings[second],) = teams
    rated = [Rating(name, rating.mu, rating.sigma) for name, rating in zip(names, ratings, strict=True)]
    return sorted(rated, key=lambda rating: -rating.mu)


@dataclass(frozen=True)
class Cycle:
    """Three agents of which each beats the next and the last beats the first."""

    names: tuple[str, str, str]
    sure: bool  # whether all three 95 % intervals exclude a tie


def cycles(names: Sequence[str], margins: Mapping[tuple[int, int], tuple[float, float, float]]) -> list[Cycle]:
    """The non-transitive triples; `margins` gives (mean, low, high) of i over j for the pairings i < j."""

    def margin(first: int, second: int) -> tuple[float, float]:
        """Mean and lower bound of `first` over `second`."""
        if first < second:
            mean, low, _ = margins[first, second]
            return mean, low
        mean, _, high = margins[second, first]
        return -mean, -high

    found: list[Cycle] = []
    for a, b, c in combinations(range(len(names)), 3):
        for order in ((a, b, c), (a, c, b)):
            steps = [margin(order[place], order[(place + 1) % 3]) for place in range(3)]
            if all(mean > 0 for mean, _ in steps):
                triple = (names[order[0]], names[order[1]], names[order[2]])
                found.append(Cycle(triple, all(low > 0 for _, low in steps)))
    return found
