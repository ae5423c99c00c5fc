"""When a search has thought enough: after a time, or after as much as was done before."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from cardlab.agents.search.decisions import Effort

Clock = Callable[[], float]


class Meter(Protocol):
    """Asked before every batch."""

    def more(self, phase: int, num_phases: int, done: int) -> bool:
        """Whether there is to be another batch in `phase`, of which `done` are done."""
        ...

    def expired(self) -> bool:
        """Whether a batch under way is to be given up."""
        ...


@dataclass
class Stopwatch:
    """`seconds` from now on, as many for each phase; the first batch is always done.

    A batch that would probably end too late is not begun: the longest one lately is what the next is taken to need.
    """

    seconds: float
    clock: Clock = time.perf_counter
    started: float = field(init=False)
    _asked: float = field(init=False)
    _longest: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self.started = self._asked = self.clock()

    def more(self, phase: int, num_phases: int, done: int) -> bool:
        """Whether another batch ends in time."""
        now = self.clock()
        if done:
            self._longest = max(0.9 * self._longest, now - self._asked)
        self._asked = now
        if phase == done == 0:
            return True
        until = self.started + self.seconds * (phase + 1) / num_phases
        return now + self._longest < until

    def expired(self) -> bool:
        """Whether the time is over."""
        return self.clock() >= self.started + self.seconds


@dataclass(frozen=True)
class Recorded:
    """As many batches as `effort` says."""

    effort: Effort

    def more(self, phase: int, num_phases: int, done: int) -> bool:
        """Whether there was another batch."""
        return phase < len(self.effort.batches) and done < self.effort.batches[phase]

    def expired(self) -> bool:
        """Never: what was given up is not among the batches."""
        return False
