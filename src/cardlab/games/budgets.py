"""Budgets of a search: a time, or the batches that an earlier search did."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Protocol

Clock = Callable[[], float]

SearchEffort = tuple[tuple[int, ...], ...]
"""The work that a search did, enough to repeat it: the sizes of the batches of each phase.

A size counts deals (Monte Carlo), decks (expectimax) or descents (tree).
"""

BatchSizes = tuple[int, int]
"""Smallest and largest size of a batch."""

FIRST = 0.5  # share of its phase's time that the first batch of a search may take: its pace is of another position
LAST = 0.7  # share of the time left that a batch of the last phase may take: nothing after it makes up for delay
OTHERS = 0.9  # the same of other batches
FORGET = 0.5  # how fast an unusually slow batch is forgotten


class Budget(Protocol):
    """Decides before each batch whether the search continues."""

    def next_batch(self, phase: int, num_phases: int, leaves: int) -> int:
        """Size of the next batch of `phase`, whose units have `leaves` leaves each; 0 where the phase ends."""
        ...

    def expired(self) -> bool:
        """Whether to abandon the running batch."""
        ...


@dataclass(frozen=True)
class Pace:
    """Seconds that a batch takes: `fixed`, and `per_leaf`. The default: all batches take the same unknown time."""

    fixed: float = 1.0
    per_leaf: float = 0.0

    def seconds(self, leaves: int) -> float:
        """Expected duration of a batch with `leaves` leaves."""
        return self.fixed + self.per_leaf * leaves

    def leaves_within(self, seconds: float) -> float:
        """Leaves of a batch that takes `seconds`."""
        if self.per_leaf == 0:
            return inf if seconds > self.fixed else 0.0
        return max(seconds - self.fixed, 0.0) / self.per_leaf


@dataclass
class TimeBudget:
    """`seconds` from now, split equally over the phases; the first batch always runs.

    A batch has as many units as fit into a share of the time left by `pace`, corrected by the batches before it.
    """

    seconds: float
    sizes: BatchSizes
    pace: Pace = Pace()
    clock: Clock = time.perf_counter
    started: float = field(init=False)
    _begun: float | None = field(default=None, init=False)  # when the running batch began
    _expected: float = field(default=0.0, init=False)  # seconds of the running batch by `pace`
    _slowness: float | None = field(default=None, init=False)  # measured seconds of batches ÷ those by `pace`

    def __post_init__(self) -> None:
        self.started = self.clock()

    def next_batch(self, phase: int, num_phases: int, leaves: int) -> int:
        """Size of the next batch; 0 where none ends in time."""
        now = self.clock()
        self._learn(now)
        smallest, largest = self.sizes
        first = self._slowness is None
        slowness = 1.0 if self._slowness is None else self._slowness
        left = (self.started + self.seconds * (phase + 1) / num_phases - now) / slowness
        share = FIRST if first else LAST if phase == num_phases - 1 else OTHERS
        size = min(self.pace.leaves_within(share * left) / leaves, largest)
        if size < smallest:
            if not first and self.pace.seconds(smallest * leaves) >= left:
                return 0
            size = smallest
        self._begun, self._expected = now, self.pace.seconds(int(size) * leaves)
        return int(size)

    def _learn(self, now: float) -> None:
        """Correct the pace by the batch that has just ended."""
        if self._begun is not None:
            measured = (now - self._begun) / self._expected
            before = measured if self._slowness is None else self._slowness
            self._slowness = max(measured, FORGET * measured + (1 - FORGET) * before)
            self._begun = None

    def expired(self) -> bool:
        """Whether the time is up."""
        return self.clock() >= self.started + self.seconds


@dataclass
class RecordedBudget:
    """The batches of an earlier search."""

    effort: SearchEffort
    _done: list[int] = field(default_factory=list[int], init=False)  # batches of each phase

    def next_batch(self, phase: int, num_phases: int, leaves: int) -> int:
        """Size of the next batch of the earlier search."""
        self._done += [0] * (phase + 1 - len(self._done))
        self._done[phase] += 1
        recorded = self.effort[phase] if phase < len(self.effort) else ()
        return recorded[self._done[phase] - 1] if self._done[phase] <= len(recorded) else 0

    def expired(self) -> bool:
        """Always False: abandoned batches are not recorded."""
        return False
