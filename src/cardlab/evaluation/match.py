"""Duplicate matches: mean payoff and win rate of each agent with 95 % intervals."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypedDict, Unpack

from numpy.typing import ArrayLike

from cardlab.core.messages import InvalidOption, unknown_key
from cardlab.evaluation.intervals import SHARE, Estimate, PerDeal, estimate, is_narrow
from cardlab.evaluation.options import MIN_DEALS, ArenaOptions
from cardlab.evaluation.seating import Given, Lineup, make_lineup
from cardlab.evaluation.workers import ChunkJob, Tally, Workers, default_chunk, make_jobs, merge
from cardlab.games.array_checks import check_decks
from cardlab.games.protocol import Game

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
        return tuple(EntryResult(name, self._points(place), self._wins(place)) for place, name in enumerate(names))

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
        return self._points(0)

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

    def _points(self, place: int) -> Estimate:
        return estimate(self.per_deal(place), self.lineup.payoff_range)

    def _wins(self, place: int) -> Estimate | None:
        if len(self.lineup.names) == 1:
            return None
        return estimate(self.tally.shares[:, self.lineup.groups[place]], SHARE)


def paired(first: PerDeal, second: PerDeal) -> PerDeal:
    """[D] differences on the deals of both matches."""
    deals = min(len(first), len(second))
    return first[:deals] - second[:deals]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C; `result` is what the call would have returned, of the deals that were played."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


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
    `decks`: [D, C] the cards of each deal in the order of `Game.deal`; `num_deals` is D. Other chance is from `seed`.
    `seconds`: start no chunk of deals after this time; `Match.num_deals` are then the deals played. The time does not
    depend on the score, so the interval is that of a match of so many deals. At least 2 deals are played; `chunk` sets
    how many advance together, by default those of 512 games, fewer where agents search.
    InvalidOption for a number or an entry that does not fit, InvalidArray for wrong decks.
    """
    for key, value in arena.items():
        if key not in MatchOptions.__annotations__:
            known = ["num_deals", "seed", "decks", "seconds", *MatchOptions.__annotations__]
            raise unknown_key(key, value, known, "play_match")
    given = None if decks is None else check_decks(decks, game.spec)
    deals = num_deals if given is None else len(given)
    if deals is None or num_deals not in (None, deals):
        wanted = "a whole number, without decks" if deals is None else f"{deals}, the number of decks"
        raise InvalidOption("num_deals", num_deals, wanted)
    deadline = None if seconds is None else monotonic() + seconds
    lineup = make_lineup(game, entries)
    arena.setdefault("processes", 1)
    if seconds is not None and arena.get("chunk") is None:
        arena["chunk"] = default_chunk([lineup], stops_early=True)
    options = ArenaOptions(deals=deals, seed=seed, **arena)

    def enough(matches: Sequence[Match]) -> bool:
        late = deadline is not None and monotonic() >= deadline and matches[0].num_deals >= MIN_DEALS
        return late or first_is_narrow(matches, options)

    def report(matches: Mapping[int, Match], _: bool) -> None:
        if progress is not None:
            progress(matches[0].num_deals, options.deals)

    with Workers(game, [lineup], options, given) as workers:
        try:
            (match,) = play_groups(workers, [[0]], options, enough, report).values()
        except Interrupted as stop:
            raise Interrupted(stop.result[0]) from None
    return match


def first_is_narrow(matches: Sequence[Match], options: ArenaOptions) -> bool:
    """Whether the interval of the first entry's points is as narrow as `options.until`."""
    return is_narrow(matches[0].per_deal(), options.until)


def play_groups(
    workers: Workers,
    groups: Sequence[Sequence[int]],
    options: ArenaOptions,
    enough: Callable[[Sequence[Match]], bool],
    on_chunk: Callable[[Mapping[int, Match], bool], None] = lambda *_: None,
    played: Mapping[int, Tally] | None = None,
) -> dict[int, Match]:
    """Place → match of the workers' lineups at the places of `groups`, all on the same deals.

    The lineups of a group advance together, and stop when their matches are `enough`; the groups take turns, so that an
    interrupt leaves all with about as many deals. After each chunk `on_chunk` gets the matches of its group, and
    whether they are finished. `played`: place → tally of the first deals, whole chunks, which are not played again.
    After Ctrl-C raises Interrupted with the matches that have an interval.
    """
    found = {place: _match(workers, place, options, tally) for place, tally in (played or {}).items()}
    waiting = [places for places in map(tuple, groups) if not _is_over(places, found, options, enough)]

    def jobs() -> Iterator[ChunkJob]:
        left = {
            places: make_jobs(workers.lineups, places, options, found[places[0]].num_deals if places[0] in found else 0)
            for places in waiting
        }
        while left:
            for places in [*left]:
                job = next(left[places], None) if places in waiting else None
                if job is None:
                    del left[places]
                else:
                    yield job

    chunks = workers.play(jobs())
    try:
        for job, tallies in chunks:
            if job.lineups not in waiting:
                continue  # played ahead of the chunk after which they were enough
            new = zip(job.lineups, tallies, strict=True)
            merged = {place: merge([*([found[place].tally] if place in found else []), tally]) for place, tally in new}
            found |= {place: _match(workers, place, options, tally) for place, tally in merged.items()}
            over = _is_over(job.lineups, found, options, enough)
            if over:
                waiting.remove(job.lineups)
            on_chunk({place: found[place] for place in job.lineups}, over)
    except KeyboardInterrupt:
        known = {place: match for place, match in found.items() if match.num_deals >= MIN_DEALS}
        if known:
            raise Interrupted(known) from None
        raise
    finally:
        chunks.close()
    return found


def _match(workers: Workers, place: int, options: ArenaOptions, tally: Tally) -> Match:
    return Match(workers.lineups[place], options.seed, tally)


def _is_over(
    places: Sequence[int],
    found: Mapping[int, Match],
    options: ArenaOptions,
    enough: Callable[[Sequence[Match]], bool],
) -> bool:
    if any(place not in found for place in places):
        return False
    matches = [found[place] for place in places]
    return enough(matches) or matches[0].num_deals >= options.deals
