"""Input and output of a search, one decision at a time, and its random streams.

A search draws from streams that depend on its seed, the InfoState and the batch number only. So it returns the same
result for the same position in every game, process, thread and batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cardlab.games.budgets import BatchSizes, Budget, SearchEffort
from cardlab.games.protocol import Floats, Game, InfoStates, Players, States
from cardlab.games.record_arrays import take

DEALS, LEAVES = 0, 1  # last number of the spawn key of each kind of stream


@dataclass(frozen=True)
class SearchDecision:
    """One decision to search."""

    info_state: InfoStates  # [1]
    player: int
    legal: NDArray[np.intp]  # [k] the legal actions, ascending
    entropy: int  # of all streams of this decision

    def stream(self, phase: int, batch: int, kind: int) -> np.random.Generator:
        """The random generator of one batch."""
        return np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=(phase, batch, kind)))


def make_search_decisions(game: Game, info_states: InfoStates, players: Players, seed: int) -> list[SearchDecision]:
    """[N] decisions of `players` [N]."""
    legal = game.legal_actions(info_states)
    decisions: list[SearchDecision] = []
    for row, player in enumerate(players.tolist()):
        info_state = InfoStates(info_states[row : row + 1])
        digest = blake2b(info_state.tobytes(), digest_size=16, key=b"%d %d" % (seed, player)).digest()
        entropy = int.from_bytes(digest, "little")
        decisions.append(SearchDecision(info_state, player, np.flatnonzero(legal[row]), entropy))
    return decisions


Determinizer = Callable[[InfoStates, Players, np.random.Generator], States]
"""Samples [G] full states that agree with what `players` [G] know."""


def sample_deals(
    determinize: Determinizer, decision: SearchDecision, num_deals: int, rng: np.random.Generator
) -> States:
    """[num_deals] states that agree with what the player of `decision` knows."""
    copies = take(decision.info_state, np.zeros(num_deals, dtype=np.intp))
    return determinize(copies, np.full(num_deals, decision.player, dtype=np.int8), rng)


def pair_with_actions(deals: States, actions: NDArray[np.intp]) -> tuple[States, NDArray[np.int16]]:
    """States [D · k] and actions [D · k]: each of `deals` [D] with each of `actions` [k], deal by deal."""
    rows = np.repeat(np.arange(len(deals)), len(actions))
    return take(deals, rows), np.tile(actions.astype(np.int16), len(deals))


@dataclass(frozen=True)
class SearchResult:
    """Scores and values of the actions of one decision."""

    scores: NDArray[np.float64]  # [A] the highest is played; minus infinity where illegal
    values: NDArray[np.float64]  # [A] expected payoff of the player; minus infinity where illegal or not tried
    simulations: int  # leaves evaluated
    effort: SearchEffort
    visits: NDArray[np.int64] | None = None  # [A] simulations by action; None without a search


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
