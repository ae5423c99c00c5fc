"""Ratings of agents from their duels, and non-transitive triples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from openskill.models import PlackettLuce

from cardlab.evaluation.intervals import Estimate

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

    places: tuple[int, int, int]
    sure: bool  # whether all three 95 % intervals exclude a tie


def cycles(num_agents: int, margins: Mapping[tuple[int, int], Estimate]) -> list[Cycle]:
    """The non-transitive triples; `margins` holds the margin of agent i over agent j for i < j."""
    wins = {pair: (margin.mean, margin.low) for pair, margin in margins.items()}
    wins |= {(j, i): (-margin.mean, -margin.high) for (i, j), margin in margins.items()}
    found: list[Cycle] = []
    for a, b, c in combinations(range(num_agents), 3):
        for order in ((a, b, c), (a, c, b)):
            means, lows = zip(*(wins[order[place - 1], order[place]] for place in (1, 2, 0)), strict=True)
            if min(means) > 0:
                found.append(Cycle(order, min(lows) > 0))
    return found
