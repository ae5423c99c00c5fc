"""Duplicate matches: mean payoff and win rate of each agent with 95 % intervals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from time import monotonic
from typing import TypedDict, TypeVar, Unpack

from numpy.typing import ArrayLike

from cardlab.core.child_processes import usable_cores
from cardlab.core.messages import InvalidOption, unknown_key
from cardlab.evaluation.intervals import Estimate, PerDeal, estimate, is_narrow
from cardlab.evaluation.options import LONG_MATCH, MIN_DEALS, ArenaOptions
from cardlab.evaluation.progress import ProgressCallback
from cardlab.evaluation.seating import Entry, Given, Lineup, make_lineup
from cardlab.evaluation.workers import Tally, Workers, default_chunk, make_jobs, merge
from cardlab.games.array_checks import check_decks
from cardlab.games.protocol import Game

Key = TypeVar("Key")
Progress = Callable[[int, int], None]
"""Called with (deals played, deals at most) after each chunk."""


@dataclass(frozen=True)
class EntryResult:
    """Mean payoff and win rate of one entry of a match."""

    name: str
    points: Estimate  # mean payoff of a game
    wins: Estimate | None  # share of games with the best payoff, ties split; None for one player


@dataclass(frozen=True)
class Match:
    """The result of a match. Means are over games; intervals are clustered by deal."""

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
    def by_player(self) -> tuple[EntryResult, ...]:
        """[P] the result of each entry; copies of one agent share one result."""
        names = self.lineup.names
        return tuple(
            EntryResult(name, estimate(self.per_deal(place)), self._wins(place)) for place, name in enumerate(names)
        )

    @property
    def by_name(self) -> dict[str, EntryResult]:
        """The result of each entry by its name; of different agents with one name, that of the first."""
        results: dict[str, EntryResult] = {}
        for result in self.by_player:
            results.setdefault(result.name, result)
        return results

    @property
    def points(self) -> Estimate:
        """Mean payoff of the first entry."""
        return estimate(self.per_deal(0))

    @property
    def wins(self) -> Estimate | None:
        """Share of games in which the first entry has the best payoff, ties split; None for one player."""
        return self._wins(0)

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

    def per_deal(self, place: int = 0) -> PerDeal:
        """[D] mean payoff of entry `place` on each deal."""
        return self.tally.points[:, self.lineup.groups[place]]

    def _wins(self, place: int) -> Estimate | None:
        if len(self.lineup.names) == 1:
            return None
        return estimate(self.tally.shares[:, self.lineup.groups[place]]).clipped(0.0, 1.0)


@dataclass(frozen=True)
class Comparison:
    """Two agents against the same opponents on the same deals; differences are paired by deal."""

    first: Match
    second: Match

    @property
    def difference(self) -> Estimate:
        """Mean payoff of the first minus that of the second."""
        return estimate(paired(self.first.per_deal(), self.second.per_deal()))


def paired(first: PerDeal, second: PerDeal) -> PerDeal:
    """[D] differences on the deals of both matches."""
    deals = min(len(first), len(second))
    return first[:deals] - second[:deals]


class InterruptedLineups(KeyboardInterrupt):
    """Ctrl-C, with the tallies of the chunks played so far."""

    def __init__(self, tallies: tuple[Tally, ...]) -> None:
        super().__init__()
        self.tallies = tallies


class MatchOptions(TypedDict, total=False):
    """Options of the group `arena` that `play_match` takes."""

    processes: int
    """Worker processes; 1 by default. A script then needs `if __name__ == "__main__":`."""
    chunk: int | None
    """Deals that advance together; another number draws another sample of random moves."""
    until: float | None
    """Half-width of the 95 % interval of the first entry's points at which to stop (see `intervals.is_narrow`)."""


def play_match(
    game: Game,
    entries: Sequence[Given] | Mapping[str, Given],
    num_deals: int | None = None,
    seed: int = 0,
    *,
    decks: ArrayLike | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
    **arena: Unpack[MatchOptions],
) -> Match:
    """Play `entries`, one per player, on `num_deals` deals in every seating (rotation beyond 4 players).

    `entries`: agents or their names; a dictionary {name: agent} names the results of `Match.by_name`.
    `decks`: [D, 52] the cards of each deal in the order of `Game.deal`; `num_deals` is D. Other chance is from `seed`.
    `seconds`: start no chunk of deals after this time; `Match.num_deals` are then the deals played. The time does not
    depend on the score, so the interval is that of a match of so many deals. At least 2 deals are played; `chunk` sets
    how many advance together, by default those of 512 games, fewer where agents search.
    InvalidOption for a number or an entry that does not fit, InvalidArray for wrong decks.
    """
    for key, value in arena.items():
        if key not in MatchOptions.__annotations__:
            known = ["num_deals", "seed", "decks", "seconds", *MatchOptions.__annotations__]
            raise unknown_key(key, value, known, "play_match")
    given = None if decks is None else check_decks(decks)
    deals = num_deals if given is None else len(given)
    if deals is None or num_deals not in (None, deals):
        wanted = "a whole number, without decks" if deals is None else f"{deals}, the number of decks"
        raise InvalidOption("num_deals", num_deals, wanted)
    if seconds is not None and not 0 < seconds < inf:
        raise InvalidOption("seconds", seconds, "a number above 0")
    deadline = None if seconds is None else monotonic() + seconds
    lineup = make_lineup(game, entries)
    arena.setdefault("processes", 1)
    if seconds is not None and arena.get("chunk") is None:
        arena["chunk"] = default_chunk([lineup], stops_early=True)
    options = ArenaOptions(deals=deals, seed=seed, **arena)
    with Workers(game, [lineup], options, given) as workers:
        return play_lineup(workers, 0, options, progress, deadline)


def play_lineup(
    workers: Workers,
    place: int,
    options: ArenaOptions,
    progress: Progress | None = None,
    deadline: float | None = None,
) -> Match:
    """Play the workers' lineup number `place`; stop at the time `deadline` (of `time.monotonic`) if given."""

    def enough(tallies: Sequence[Tally]) -> bool:
        points = tallies[0].points[:, 0]
        late = deadline is not None and monotonic() >= deadline and len(points) >= MIN_DEALS
        return late or is_narrow(points, options.until)

    (tally,) = play_lineups(workers, [place], options, enough, progress)
    return Match(workers.lineups[place], options.seed, tally)


def play_matches(
    game: Game,
    entries: Mapping[Key, Sequence[Entry]],
    options: ArenaOptions,
    label: Callable[[Key], str],
    progress: ProgressCallback,
) -> dict[Key, Match]:
    """Play each list of agents on the same deals, one match after the other; `label` names a match in `progress`."""
    lineups = [make_lineup(game, agents) for agents in entries.values()]
    learns = any(lineup.learns for lineup in lineups)
    if options.processes is None and not learns and options.deals * len(lineups) >= LONG_MATCH:
        options = replace(options, processes=usable_cores())
    with Workers(game, lineups, options) as workers:
        return {
            key: play_lineup(workers, place, options, partial(progress, label(key)))
            for place, key in enumerate(entries)
        }


def compare(
    game: Game,
    first: Entry,
    second: Entry,
    field: Sequence[Entry],
    options: ArenaOptions,
    progress: Progress | None = None,
) -> Comparison:
    """Play `first` and `second` each against `field` (P − 1 entries) on the same deals.

    With `options.until`, stop when the interval of the difference has this half-width.
    """
    lineups = [make_lineup(game, [entry, *field]) for entry in (first, second)]

    def enough(tallies: Sequence[Tally]) -> bool:
        return is_narrow(tallies[0].points[:, 0] - tallies[1].points[:, 0], options.until)

    with Workers(game, lineups, options) as workers:
        tallies = play_lineups(workers, [0, 1], options, enough, progress)
    matches = [Match(lineup, options.seed, tally) for lineup, tally in zip(lineups, tallies, strict=True)]
    return Comparison(*matches)


def play_lineups(
    workers: Workers,
    places: Sequence[int],
    options: ArenaOptions,
    enough: Callable[[Sequence[Tally]], bool],
    progress: Progress | None = None,
) -> tuple[Tally, ...]:
    """Play the workers' lineups `places` on the same deals: all of them, or until the tallies are `enough`.

    InterruptedLineups after Ctrl-C.
    """
    done: tuple[Tally, ...] | None = None
    chunks = workers.play(make_jobs(workers.lineups, places, options))
    try:
        for new in chunks:
            done = new if done is None else tuple(merge(pair) for pair in zip(done, new, strict=True))
            if progress is not None:
                progress(len(done[0].points), options.deals)
            if enough(done):
                break
    except KeyboardInterrupt:
        if done is None or len(done[0].points) < MIN_DEALS:
            raise
        raise InterruptedLineups(done) from None
    finally:
        chunks.close()
    assert done is not None, "at least one chunk is played"
    return done
