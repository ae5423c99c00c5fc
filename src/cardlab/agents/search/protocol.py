"""The interface of all searches."""

from collections.abc import Callable, Sequence
from typing import Protocol

from cardlab.agents.search.search_io import SearchDecision, SearchResult
from cardlab.games.budgets import BatchSizes, Budget
from cardlab.games.protocol import Floats, InfoStates, Players

Estimates = Callable[[InfoStates, Players], Floats]
"""[N, A] a policy's estimate of each action, higher is better; minus infinity (for a prior: 0) where illegal."""


class Search(Protocol):
    """One kind of search over one game."""

    @property
    def batch_sizes(self) -> BatchSizes:
        """Smallest and largest size of a batch under a clock."""
        ...

    def search(self, decisions: Sequence[SearchDecision]) -> list[SearchResult]:
        """[N] results within the counted budget; each is independent of the other decisions in the call."""
        ...

    def search_within(self, decision: SearchDecision, budget: Budget) -> SearchResult:
        """The result after the batches that `budget` gives."""
        ...
