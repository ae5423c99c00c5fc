"""What an evaluation or a tournament is played with: the options of the group `arena`."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cardlab.core.options import InvalidOption, check_choice, check_range
from cardlab.evaluation.seating import Lineup

EVALUATION_SEED = 20_000_001  # far from the small seeds of training, so that nothing is tuned on these deals
MIN_DEALS = 2  # an interval needs a variance
MAX_DEALS = 10**9  # years of play: more is a slip of the pen
LAUNCHERS = ("processes", "ray")
LONG_MATCH = 5000  # deals from which starting processes costs less than it saves


@dataclass(frozen=True)
class ArenaOptions:
    """How many deals, against whom, and how they are spread over processes."""

    deals: int = 2000
    """Deals of a match; with `until`, the most that are played."""
    references: Sequence[str] = ()
    """Agents that an evaluated one is measured against, as texts; `random` when there are none."""
    seed: int = EVALUATION_SEED
    """Names the deals: the same seed gives every agent the same ones."""
    processes: int | None = None
    """Worker processes; None: one for each core in long matches. The figures do not depend on it."""
    launcher: str = "processes"
    """Who starts them: this program, or `ray`, on all cores of its cluster. The figures do not depend on it either."""
    chunk: int | None = None
    """Deals that advance together; None: as many as fill about 2,048 tables. Another value, another sample."""
    until: float | None = None
    """Half-width of the 95 % interval at which a match stops, in points; None plays all deals."""
    pairing_deals: int = 200
    """Deals of each of the many matches that the pipeline plays: among past selves, and for its cross tables."""
    records: str | None = None
    """A folder in which every game is kept as a record, with what searching agents did; None keeps none."""

    def __post_init__(self) -> None:
        check_range("arena.deals", self.deals, MIN_DEALS, MAX_DEALS, whole=True)
        check_range("arena.seed", self.seed, 0, whole=True)
        if self.processes is not None:
            check_range("arena.processes", self.processes, 1, 256, whole=True)
        check_choice("arena.launcher", self.launcher, LAUNCHERS)
        if self.chunk is not None:
            check_range("arena.chunk", self.chunk, 1, whole=True)
        if self.until is not None:
            check_range("arena.until", self.until, 0, open_low=True)
        check_range("arena.pairing_deals", self.pairing_deals, MIN_DEALS, MAX_DEALS, whole=True)
        if self.records == "":
            raise InvalidOption("arena.records", self.records, "a folder, or null for none")
        if isinstance(self.references, str):
            raise InvalidOption("arena.references", self.references, "a list of agents, as in [random,greedy]")
        object.__setattr__(self, "references", tuple(self.references))

    def for_pairings(self) -> "ArenaOptions":
        """The same with `pairing_deals` deals, all of them played."""
        return replace(self, deals=self.pairing_deals, until=None)

    @property
    def workers(self) -> int:
        """Processes to use for matches of these deals."""
        if self.processes is not None:
            return self.processes
        return 1 if self.deals < LONG_MATCH else os.cpu_count() or 1

    def workers_of(self, lineups: Sequence[Lineup]) -> int:
        """The same for these lineups: where agents search, few deals are long too."""
        if self.processes is None and any(lineup.parallel_games for lineup in lineups):
            return os.cpu_count() or 1
        return self.workers

    @property
    def records_folder(self) -> Path | None:
        """Where games are kept."""
        return None if self.records is None else Path(self.records)
