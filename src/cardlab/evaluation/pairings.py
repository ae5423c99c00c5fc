"""Pairings of agents: each against each other, on the same deals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cardlab.evaluation.intervals import Estimate, PerDeal, estimate, is_narrow
from cardlab.evaluation.match import Match
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.played_deals import PlayedDeals
from cardlab.evaluation.progress import ProgressCallback
from cardlab.evaluation.ratings import MAX_RATED_DEALS, Duels
from cardlab.evaluation.scores import play_matches
from cardlab.evaluation.seating import Entry
from cardlab.games.protocol import Game


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
    played: PlayedDeals | None = None,
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
    margins = _margin(matches)
    return Pairing(
        names,
        (estimate(points), estimate(other_points)),
        None if _is_alone(matches) else (estimate(wins).clipped(0.0, 1.0), estimate(other_wins).clipped(0.0, 1.0)),
        estimate(margins),
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
