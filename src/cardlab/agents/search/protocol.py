"""What every kind of search can do."""

from collections.abc import Callable, Sequence
from typing import Protocol

from cardlab.agents.search.budgets import Meter
from cardlab.agents.search.decisions import Decision, Finding
from cardlab.games.protocol import Floats, InfoStates, Players

Estimates = Callable[[InfoStates, Players], Floats]
"""[N, A] what a policy thinks of each action: the higher the better, minus infinity (a prior: 0) where illegal."""


class Search(Protocol):
    """One kind of search over one game."""

    @property
    def smallest_batch(self) -> int:
        """Size of the smallest batch that it does at once."""
        ...

    @property
    def largest_batch(self) -> int:
        """Size of the largest."""
        ...

    def search(self, decisions: Sequence[Decision]) -> list[Finding]:
        """[N] findings by the budget that is counted; what stands beside a decision changes nothing."""
        ...

    def metered(self, decision: Decision, meter: Meter, size: int) -> Finding:
        """The finding by batches of `size`, as long as `meter` says."""
        ...
