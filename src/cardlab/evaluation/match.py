"""Duplicate matches: who is stronger, by how much, and how sure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cardlab.evaluation.intervals import Estimate, PerDeal, estimate, is_narrow
from cardlab.evaluation.options import MIN_DEALS, ArenaOptions
from cardlab.evaluation.seating import Entry, Lineup, make_lineup
from cardlab.evaluation.workers import Tally, Workers, make_jobs, merge
from cardlab.games.protocol import Game

Progress = Callable[[int, int], None]
"""Told (deals played, deals at most) after each chunk."""


@dataclass(frozen=True)
class Result:
    """How one entry did in a match."""

    name: str
    points: Estimate  # mean payoff of a game
    wins: Estimate | None  # share of games with the best payoff, ties split; None for one player


@dataclass(frozen=True)
class Match:
    """What was played and what came of it. Means are over games; intervals are clustered by deal."""

    lineup: Lineup
    seed: int
    tally: Tally

    @property
    def num_deals(self) -> int:
        """D: deals played, each in all S seatings."""
        return len(self.tally.points)

    @property
    def num_games(self) -> int:
        """Games played, D · S."""
        return self.num_deals * self.lineup.num_seatings

    @property
    def by_player(self) -> tuple[Result, ...]:
        """[P] the result of each entry; copies of one agent share theirs."""
        return tuple(self._result(place) for place in range(len(self.lineup.names)))

    @property
    def points(self) -> Estimate:
        """Mean payoff of the first entry."""
        return estimate(self.per_deal(0))

    @property
    def wins(self) -> Estimate | None:
        """Share of games in which the first entry has the best payoff, ties split; None for one player."""
        return estimate(self.wins_per_deal(0)).clipped(0.0, 1.0) if len(self.lineup.names) > 1 else None

    @property
    def mean(self) -> float:
        """Mean payoff of the first entry."""
        return self.points.mean

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of `mean`."""
        return self.points.low, self.points.high

    @property
    def win_rate(self) -> float | None:
        """Share of games in which the first entry has the best payoff, ties split; None for one player."""
        return None if self.wins is None else self.wins.mean

    @property
    def win_rate_interval(self) -> tuple[float, float] | None:
        """95 % interval of `win_rate`."""
        return None if self.wins is None else (self.wins.low, self.wins.high)

    @property
    def variance_ratio(self) -> float:
        """Variance of the first's mean from independent deals over that of this match, for as many games each.

        Above 1, duplicate play needs that many times fewer games for the same interval; infinite where luck cancels.
        """
        independent = float(self.tally.games.var(dtype=np.float64)) / self.lineup.num_seatings
        clustered = float(self.per_deal(0).var(ddof=1))
        return independent / clustered if clustered > 0 else float("inf")

    def per_deal(self, place: int = 0) -> PerDeal:
        """[D] mean payoff of entry `place` on each deal."""
        return self.tally.points[:, self.lineup.groups[place]]

    def wins_per_deal(self, place: int = 0) -> PerDeal:
        """[D] share of wins of entry `place` on each deal."""
        return self.tally.shares[:, self.lineup.groups[place]]

    def _result(self, place: int) -> Result:
        alone = len(self.lineup.names) == 1
        wins = None if alone else estimate(self.wins_per_deal(place)).clipped(0.0, 1.0)
        return Result(self.lineup.names[place], estimate(self.per_deal(place)), wins)


@dataclass(frozen=True)
class Comparison:
    """Two agents against the same field on the same deals: the difference is taken deal by deal."""

    first: Match
    second: Match

    @property
    def difference(self) -> Estimate:
        """Mean payoff of the first less that of the second."""
        return estimate(paired(self.first.per_deal(), self.second.per_deal()))

    @property
    def win_rate_difference(self) -> Estimate | None:
        """Win rate of the first less that of the second; None for one player."""
        if self.first.wins is None:
            return None
        return estimate(paired(self.first.wins_per_deal(), self.second.wins_per_deal()))


def paired(first: PerDeal, second: PerDeal) -> NDArray[np.float64]:
    """[D] differences over the deals that both played."""
    deals = min(len(first), len(second))
    return first[:deals] - second[:deals]


class StoppedLineups(KeyboardInterrupt):
    """Ctrl-C, with the tallies of the chunks that were played."""

    def __init__(self, tallies: tuple[Tally, ...]) -> None:
        super().__init__()
        self.tallies = tallies


class StoppedMatch(KeyboardInterrupt):
    """Ctrl-C, with the match as far as it was played."""

    def __init__(self, match: Match) -> None:
        super().__init__()
        self.match = match


def play_match(
    game: Game,
    entries: Sequence[Entry],
    num_deals: int,
    seed: int,
    *,
    processes: int = 1,
    chunk: int | None = None,
    until: float | None = None,
    progress: Progress | None = None,
) -> Match:
    """Play `entries`, one per player, on `num_deals` deals in every seating (rotation beyond 4 players).

    `until`: stop when the 95 % interval of the first's points has that half-width (see `intervals.is_narrow`).
    InvalidOption for a number or an entry that does not fit.
    """
    options = ArenaOptions(deals=num_deals, seed=seed, processes=processes, chunk=chunk, until=until)
    lineup = make_lineup(game, entries)
    with Workers(
        game, [lineup], options.workers_of([lineup]), options.launcher, records=options.records_folder
    ) as workers:
        return play_lineup(workers, 0, options, progress)


def play_lineup(workers: Workers, place: int, options: ArenaOptions, progress: Progress | None = None) -> Match:
    """The match of the workers' lineup number `place`, as `options` say; StoppedMatch after Ctrl-C."""
    lineup = workers.lineups[place]
    try:
        (tally,) = play_lineups(workers, [place], options, _first_points, progress)
    except StoppedLineups as stop:
        raise StoppedMatch(Match(lineup, options.seed, stop.tallies[0])) from None
    return Match(lineup, options.seed, tally)


def compare(
    game: Game,
    first: Entry,
    second: Entry,
    field: Sequence[Entry],
    options: ArenaOptions,
    progress: Progress | None = None,
) -> Comparison:
    """Play `first` and `second` each against `field` (P − 1 entries) on the same deals.

    With `options.until`, stop when the interval of their difference has that half-width.
    """
    lineups = [make_lineup(game, [entry, *field]) for entry in (first, second)]
    with Workers(
        game, lineups, options.workers_of(lineups), options.launcher, records=options.records_folder
    ) as workers:
        tallies = play_lineups(workers, [0, 1], options, _points_apart, progress)
    matches = [Match(lineup, options.seed, tally) for lineup, tally in zip(lineups, tallies, strict=True)]
    return Comparison(*matches)


def play_lineups(
    workers: Workers,
    places: Sequence[int],
    options: ArenaOptions,
    watched: Callable[[Sequence[Tally]], PerDeal],
    progress: Progress | None = None,
) -> tuple[Tally, ...]:
    """Play the workers' lineups `places` on the same deals, all or until what is `watched` [D] is narrow enough."""
    done: tuple[Tally, ...] | None = None
    chunks = workers.play(make_jobs(workers.lineups, places, options))
    try:
        for new in chunks:
            done = new if done is None else tuple(merge(pair) for pair in zip(done, new, strict=True))
            if progress is not None:
                progress(len(done[0].points), options.deals)
            if options.until is not None and is_narrow(watched(done), options.until):
                break
    except KeyboardInterrupt:
        if done is None or len(done[0].points) < MIN_DEALS:
            raise
        raise StoppedLineups(done) from None
    finally:
        chunks.close()
    assert done is not None, "at least one chunk is played"
    return done


def _first_points(tallies: Sequence[Tally]) -> PerDeal:
    return tallies[0].points[:, 0]


def _points_apart(tallies: Sequence[Tally]) -> PerDeal:
    return tallies[0].points[:, 0] - tallies[1].points[:, 0]
