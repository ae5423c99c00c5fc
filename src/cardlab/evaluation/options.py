"""The options of the group `arena`. Imports no numpy: a wrong value is refused before that."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from cardlab.core.child_processes import usable_cores
from cardlab.core.options import Number, Text, Whole, invalid, option, options

if TYPE_CHECKING:
    from cardlab.evaluation.seating import Lineup

EVALUATION_SEED = 20_000_001
"""Default of `arena.seed`, far from the small seeds of training: evaluations, comparisons, tournaments, snapshots."""
DEFAULT_REFERENCES = ("random",)
MIN_DEALS = 2  # an interval needs a variance
MAX_DEALS = 10**9  # years of play: more is a typing error
LONG_MATCH = 5000  # deals of all matches, from which starting processes costs less than it saves


Launcher = Annotated[
    Literal["processes", "ray"],
    Field(description="what starts the processes: processes (on this machine), or ray (on the nodes of its cluster)"),
]


@options("arena")
class ArenaOptions:
    """Duplicate matches: the same deals at every seating."""

    deals: Whole = option(
        2000, "deals of each match, at every seating; with `until`: the maximum", ge=MIN_DEALS, le=MAX_DEALS
    )
    pairing_deals: Whole = option(
        200, "deals of each match between snapshots and of the cross tables of the pipeline", ge=MIN_DEALS, le=MAX_DEALS
    )
    references: tuple[Text, ...] = option(
        (), "agents to play against, e.g. [random,greedy]; empty: those of the experiment, or random"
    )
    seed: Whole = option(EVALUATION_SEED, "seed of the deals, far from the seeds of training and tuning", ge=0)
    processes: Whole | None = option(
        None, "worker processes; null: one per core in long matches; figures do not depend on the number", ge=1, le=256
    )
    launcher: Launcher = "processes"
    chunk: Whole | None = option(
        None, "deals that advance together; null: about 2,048 parallel games; another value draws another sample", ge=1
    )
    until: Number | None = option(
        None, "half-width of the 95 % interval, in points, at which a match stops; null: never", gt=0
    )
    records: Text | None = option(
        None, "folder for a record of every game, with the values of searching agents; null: none", min_length=1
    )

    def for_pairings(self) -> "ArenaOptions":
        """These options with `pairing_deals` deals, all of them played, without records."""
        return replace(self, deals=self.pairing_deals, until=None, records=None)

    def workers_of(self, lineups: "Sequence[Lineup]") -> int:
        """Processes to use for matches of these lineups: where agents search, few deals are long too.

        InvalidOption for more than one where an agent learns: each process would have a policy of its own.
        """
        if any(lineup.learns for lineup in lineups):
            if self.launcher == "ray" or self.processes not in (None, 1):
                raise invalid(self, "processes", "1 where an agent learns, without Ray")
            return 1
        if self.processes is not None:
            return self.processes
        long = self.deals * len(lineups) >= LONG_MATCH or any(lineup.parallel_games for lineup in lineups)
        return usable_cores() if long else 1
