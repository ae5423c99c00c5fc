"""Budgets of a search: a time, or the batches that an earlier search did."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from cardlab.agents.search.search_io import SearchEffort

Clock = Callable[[], float]


class Budget(Protocol):
    """Decides before each batch whether the search continues."""

    def more(self, phase: int, num_phases: int, done: int) -> bool:
        """Whether `phase` gets another batch after `done` of them."""
        ...

    def expired(self) -> bool:
        """Whether to abandon the running batch."""
        ...


@dataclass
class TimeBudget:
    """`seconds` from now, split equally over the phases; the first batch always runs.

    A batch starts only if it should end in time, judged by the longest recent batch.
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
        """Whether the time is up."""
        return self.clock() >= self.started + self.seconds


@dataclass(frozen=True)
class RecordedBudget:
    """The batches of an earlier search."""

    effort: SearchEffort

    def more(self, phase: int, num_phases: int, done: int) -> bool:
        """Whether there was another batch."""
        return phase < len(self.effort.batches) and done < self.effort.batches[phase]

    def expired(self) -> bool:
        """Always False: abandoned batches are not recorded."""
        return False
