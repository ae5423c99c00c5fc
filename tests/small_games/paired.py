"""Two agents against the same opponents on the same deals."""

from collections.abc import Sequence

from cardlab.evaluation.intervals import Estimate, estimate, is_narrow
from cardlab.evaluation.match import Match, paired
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.scores import play_matches
from cardlab.evaluation.seating import Entry
from cardlab.games.protocol import Game


def play_paired(
    game: Game, agents: tuple[Entry, Entry], opponents: Sequence[Entry], options: ArenaOptions
) -> tuple[Match, Match, Estimate]:
    """The match of each, and the paired difference, whose interval decides when to stop."""
    entries = {place: [agent, *opponents] for place, agent in enumerate(agents)}

    def difference(matches: Sequence[Match]):
        return paired(*(match.per_deal() for match in matches))

    matches = play_matches(
        game,
        entries,
        options,
        together=lambda _: 0,
        enough=lambda both: is_narrow(difference(both), options.until),
    )
    return matches[0], matches[1], estimate(difference([*matches.values()]))
