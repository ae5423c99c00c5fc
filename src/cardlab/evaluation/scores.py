"""The table of scores: matches of agents against references, all on the same deals.

Evaluations, comparisons, learning curves, sweeps, promotions, exploitations and tournaments read their figures from it.
"""

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from cardlab.evaluation.intervals import SELF, PerDeal
from cardlab.evaluation.match import Interrupted, Match, first_is_narrow, play_groups
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.played_deals import PlayedFiles
from cardlab.evaluation.progress import ProgressCallback, no_progress
from cardlab.evaluation.seating import Entry, make_lineup
from cardlab.evaluation.workers import Workers
from cardlab.games.protocol import Game

Key = TypeVar("Key", bound=Hashable)
Row = TypeVar("Row", bound=Hashable)
Played = TypeVar("Played")
Result = TypeVar("Result")
Enough = Callable[[Sequence[Match]], bool]
"""Whether the matches that advance together may stop; called after each chunk of their deals."""


@dataclass(frozen=True)
class ScoreTable(Generic[Row]):
    """Agents × references on the same deals.

    Several players: a match is one of the agent against P − 1 copies of the reference. One player: the reference SELF
    is the agent itself, and the match of any other reference, the same for all agents, is that of the reference alone.
    """

    agents: Sequence[Row]
    references: Sequence[str]
    matches: Mapping[tuple[Row, str], Match]

    def column(self, reference: str) -> list[Match]:
        """The match of each agent against, or of, `reference`."""
        return [self.matches[agent, reference] for agent in self.agents]

    def row(self, agent: Row) -> dict[str, Match]:
        """Reference → match of `agent`."""
        return {reference: self.matches[agent, reference] for reference in self.references}

    def points(self, agent: Row) -> dict[str, PerDeal]:
        """Reference → points per game of `agent` on each deal."""
        return {reference: match.per_deal() for reference, match in self.row(agent).items()}


def play_scores(
    game: Game,
    agents: Mapping[Row, Entry],
    references: Iterable[str],
    options: ArenaOptions,
    *,
    together: Callable[[tuple[Row, str]], Hashable] | None = None,
    enough: Enough | None = None,
    progress: ProgressCallback = no_progress,
    played: Path | None = None,
) -> ScoreTable[Row]:
    """Play each of `agents` against each of `references`; one player: the agents and the references alone.

    Options as of `play_matches`, with the keys (agent, reference). Ctrl-C raises Interrupted with a table of the
    references that all agents have played; the numbers of deals of its matches may differ.
    """
    names, others = list(dict.fromkeys(references)), game.spec.num_players - 1
    rows, first = list(agents), next(iter(agents))
    if others:
        entries = {(row, name): [agents[row], *[name] * others] for row in rows for name in names}
    else:
        entries = {(row, SELF): [agents[row]] for row in rows} | {(first, name): [name] for name in names}

    def table(matches: Mapping[tuple[Row, str], Match]) -> ScoreTable[Row]:
        found = dict(matches)
        if not others:
            found |= {(row, name): matches[first, name] for row in rows for name in names if (first, name) in matches}
        columns = names if others else [SELF, *names]
        known = [name for name in columns if all((row, name) in found for row in rows)]
        if not known:
            raise KeyboardInterrupt
        return ScoreTable(rows, known, found)

    label = ", ".join(names) or SELF
    play = partial(play_matches, game, entries, options, together=together, enough=enough, label=label)
    return from_part(partial(play, progress=progress, played=played), table)


def play_matches(
    game: Game,
    entries: Mapping[Key, Sequence[Entry]],
    options: ArenaOptions,
    *,
    together: Callable[[Key], Hashable] | None = None,
    enough: Enough | None = None,
    label: str = "",
    progress: ProgressCallback = no_progress,
    played: Path | None = None,
) -> dict[Key, Match]:
    """Play each list of agents, one per player, on the same deals.

    Matches with one value of `together` advance and stop together; by default each stops alone. `enough`: by default,
    whether the interval of the first entry is as narrow as `options.until`. `progress` is called with (`label`, deals
    of all groups, at most). `played`: a folder that keeps the deals; those that are there are not played again. Ctrl-C
    raises Interrupted with the matches that have an interval.
    """
    keys, lineups = list(entries), [make_lineup(game, agents) for agents in entries.values()]
    by_group: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        by_group.setdefault(key if together is None else together(key), []).append(place)
    groups = list(by_group.values())
    stops = enough or partial(first_is_narrow, options=options)
    with Workers(game, lineups, options) as workers:
        files = PlayedFiles(played, workers.game, lineups, groups, options)
        done = {
            places[0]: len(files.tallies[places[0]].points) if places[0] in files.tallies else 0 for places in groups
        }

        def report(matches: Mapping[int, Match], over: bool) -> None:
            group = next(iter(matches))
            done[group] = options.deals if over else matches[group].num_deals
            files.save({place: match.tally for place, match in matches.items()}, last=over)
            progress(label, sum(done.values()), options.deals * len(groups))

        try:
            found = play_groups(workers, groups, options, stops, report, files.tallies)
        except Interrupted as stop:
            for places in groups:
                if places[0] in stop.result:
                    files.save({place: stop.result[place].tally for place in places}, last=True)
            raise Interrupted({keys[place]: match for place, match in stop.result.items()}) from None
    return {key: found[place] for place, key in enumerate(keys)}


def from_part(play: Callable[[], Played], make: Callable[[Played], Result]) -> Result:
    """`make` of what `play` returns; when that raises Interrupted, so does this, with `make` of its part."""
    try:
        found = play()
    except Interrupted as stop:
        raise Interrupted(make(stop.result)) from None
    return make(found)


def or_part(play: Callable[[], Result]) -> tuple[Result, bool]:
    """What `play` returns or, after Ctrl-C, its part; and whether it is complete."""
    try:
        return play(), True
    except Interrupted as stop:
        return stop.result, False


@contextmanager
def without_part() -> Generator[None]:
    """Inside, Ctrl-C raises KeyboardInterrupt: the part is no result of what follows. It is kept for a resume."""
    try:
        yield
    except Interrupted:
        raise KeyboardInterrupt from None
