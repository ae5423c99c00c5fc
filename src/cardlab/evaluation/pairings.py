"""Pairings of agents, each against each other on the same deals; their ratings, and non-transitive triples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from openskill.models import PlackettLuce

from cardlab.evaluation.intervals import SHARE, Estimate, PerDeal, estimate, is_narrow
from cardlab.evaluation.match import Match
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.progress import ProgressCallback
from cardlab.evaluation.scores import play_matches
from cardlab.evaluation.seating import Entry
from cardlab.games.protocol import Game

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


@dataclass(frozen=True)
class Pairing:
    """The result of two agents against each other; in pairs the first agent comes first."""

    names: tuple[str, str]
    points: tuple[Estimate, Estimate]  # of each against the other (against its copies with more than two players)
    wins: tuple[Estimate, Estimate] | None  # None for one player
    margin: Estimate  # half the difference of the points, paired by deal; for one player the difference
    duels: Duels  # [deals, at most MAX_RATED_DEALS]


def play_pairings(
    game: Game,
    pairs: Sequence[tuple[str, str]],
    options: ArenaOptions,
    progress: ProgressCallback,
    agents: Mapping[str, Entry] | None = None,
    played: Path | None = None,
) -> list[Pairing]:
    """Play the `pairs` of agents: texts, or names of `agents`. Options as of `play_matches`."""
    entries, others = agents or {}, game.spec.num_players - 1
    tables: dict[tuple[tuple[str, str], int], list[Entry]] = {}
    for names in pairs:
        first, second = (entries.get(name, name) for name in names)
        tables[names, 0] = [first, *[second] * others]
        if others != 1:  # of two players one match has the points of both
            tables[names, 1] = [second, *[first] * others]

    def enough(matches: Sequence[Match]) -> bool:
        return is_narrow(_margin(matches), options.until)

    matches = play_matches(
        game,
        tables,
        options,
        together=lambda key: key[0],
        enough=enough,
        label=f"{len(pairs)} pairings",
        progress=progress,
        played=played,
    )
    return [_pairing(names, [matches[names, side] for side in (0, 1) if (names, side) in matches]) for names in pairs]


def _pairing(names: tuple[str, str], matches: Sequence[Match]) -> Pairing:
    (points, wins), (other_points, other_wins) = (_side(matches, side) for side in (0, 1))
    margins, alone, lineup = _margin(matches), _is_alone(matches), matches[0].lineup
    low, high = lineup.difference_range
    return Pairing(
        names,
        (estimate(points, lineup.payoff_range), estimate(other_points, lineup.payoff_range)),
        None if alone else (estimate(wins, SHARE), estimate(other_wins, SHARE)),
        estimate(margins, (low, high) if alone else (low / 2, high / 2)),
        np.sign(margins[:MAX_RATED_DEALS]).astype(np.int8),
    )


def _is_alone(matches: Sequence[Match]) -> bool:
    return len(matches[0].lineup.names) == 1


def _margin(matches: Sequence[Match]) -> PerDeal:
    return (_side(matches, 0)[0] - _side(matches, 1)[0]) / (1 if _is_alone(matches) else 2)


def _side(matches: Sequence[Match], side: int) -> tuple[PerDeal, PerDeal]:
    """Points and shares [D] of one side of a pairing."""
    tally, group = (matches[0].tally, side) if len(matches) == 1 else (matches[side].tally, 0)
    return tally.points[:, group], tally.shares[:, group]
