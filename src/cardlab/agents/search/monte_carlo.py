"""Monte Carlo search over determinizations with sequential halving.

Sequential halving (Karnin, Koren and Somekh 2013, algorithm 1): ⌈log2 k⌉ phases of equal cost for k candidates; each
phase drops the lower half. All candidates are tried on the same deals (common random numbers), so that the luck of the
cards cancels in their differences.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.search.leaves import BatchedLeaf, LeafEvaluator
from cardlab.agents.search.options import MonteCarloOptions
from cardlab.agents.search.search_io import (
    DEALS,
    LEAVES,
    Determinizer,
    Estimates,
    SearchDecision,
    SearchEffort,
    SearchResult,
    pair_with_actions,
    sample_deals,
)
from cardlab.games.array_checks import unchecked
from cardlab.games.budgets import BatchSizes, Budget
from cardlab.games.protocol import Game, States
from cardlab.games.record_arrays import join

CHUNK_DEALS = 256  # drawn from one stream; another number changes what a seed gives
LARGEST_BATCH = 4096  # deals of a timed search between two looks at the clock
CHUNK_ROWS = 32_768  # states that are played together, over all decisions


@dataclass
class Halving:
    """Sequential halving of one decision: the remaining candidates and their payoffs so far."""

    decision: SearchDecision
    raw: NDArray[np.float64]  # [k] the policy's estimates of the legal actions; zeros without a policy
    left: NDArray[np.intp]  # remaining candidates, as indices into the legal actions
    sums: NDArray[np.float64] = field(init=False)
    counts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.sums = np.zeros(len(self.decision.legal))
        self.counts = np.zeros(len(self.decision.legal), dtype=np.int64)
        self.num_phases = max(1, ceil(log2(max(len(self.left), 1))))

    def scores(self, options: MonteCarloOptions) -> NDArray[np.float64]:
        """[left] mean payoffs of the playouts, mixed with the raw estimates."""
        counts = self.counts[self.left]
        means = self.sums[self.left] / np.maximum(counts, 1)
        weight = options.raw_playouts / (options.raw_playouts + counts) if options.raw_playouts else options.raw_weight
        return (1 - weight) * means + weight * self.raw[self.left] if np.any(weight) else means

    def halve(self, options: MonteCarloOptions) -> None:
        """Keep the better half; of equals the earlier."""
        order = np.argsort(-self.scores(options), kind="stable")
        self.left = np.sort(self.left[order[: (len(self.left) + 1) // 2]])


@dataclass(frozen=True)
class DealBatch:
    """Some deals of one phase."""

    halving: Halving
    phase: int
    index: int
    size: int


@dataclass(frozen=True)
class MonteCarlo:
    """Values of actions by playouts; see MonteCarloOptions."""

    game: Game
    leaf: LeafEvaluator
    options: MonteCarloOptions
    determinize: Determinizer
    estimates: Estimates | None = None  # the policy's estimates, for `candidates` and `raw_weight`

    @cached_property
    def _leaves(self) -> BatchedLeaf:
        return BatchedLeaf(self.leaf)

    @property
    def batch_sizes(self) -> BatchSizes:
        """A deal for each thread to LARGEST_BATCH."""
        return self.options.threads, LARGEST_BATCH

    def search(self, decisions: Sequence[SearchDecision]) -> list[SearchResult]:
        """[N] results of `decisions` [N], which are searched together."""
        halvings = self._start_halvings(decisions)
        for phase in range(max((halving.num_phases for halving in halvings), default=0)):
            running = [halving for halving in halvings if phase < halving.num_phases]
            self._run([batch for halving in running for batch in self._share(halving, phase)])
            for halving in running:
                if phase < halving.num_phases - 1:
                    halving.halve(self.options)
        return [self._result(halving, ()) for halving in halvings]

    def search_within(self, decision: SearchDecision, budget: Budget) -> SearchResult:
        """The result of one decision after the batches of deals that `budget` gives."""
        (halving,) = self._start_halvings([decision])
        effort: list[tuple[int, ...]] = []
        for phase in range(halving.num_phases):
            done: list[int] = []
            chunks = 0
            while deals := budget.next_batch(phase, halving.num_phases, len(halving.left)):
                chunk = min(CHUNK_DEALS, ceil(deals / self.options.threads))
                batches = [
                    DealBatch(halving, phase, chunks + number, min(chunk, deals - first))
                    for number, first in enumerate(range(0, deals, chunk))
                ]
                self._run(batches)
                chunks += len(batches)
                done.append(deals)
            effort.append(tuple(done))
            if phase < halving.num_phases - 1:
                halving.halve(self.options)
        return self._result(halving, tuple(effort))

    def _start_halvings(self, decisions: Sequence[SearchDecision]) -> list[Halving]:
        raw = self._raw(decisions)
        halvings: list[Halving] = []
        for decision, estimates in zip(decisions, raw, strict=True):
            left = np.arange(len(decision.legal))
            if self.options.candidates is not None:
                left = np.sort(np.argsort(-estimates, kind="stable")[: self.options.candidates])
            halvings.append(Halving(decision, estimates, left))
        return halvings

    def _raw(self, decisions: Sequence[SearchDecision]) -> list[NDArray[np.float64]]:
        """[N] raw estimates of the legal actions."""
        if self.estimates is None or not decisions:
            return [np.zeros(len(decision.legal)) for decision in decisions]
        info_states = join([decision.info_state for decision in decisions])
        players = np.array([decision.player for decision in decisions], dtype=np.int8)
        values = self.estimates(info_states, players).astype(np.float64)
        return [row[decision.legal] for row, decision in zip(values, decisions, strict=True)]

    def _share(self, halving: Halving, phase: int) -> Iterator[DealBatch]:
        """The deals of one phase: the budget split equally over phases and remaining candidates, at least one each."""
        deals = max(1, self.options.simulations // (halving.num_phases * len(halving.left)))
        for index, first in enumerate(range(0, deals, CHUNK_DEALS)):
            yield DealBatch(halving, phase, index, min(CHUNK_DEALS, deals - first))

    def _run(self, batches: Sequence[DealBatch]) -> None:
        """Play `batches` and add up their payoffs, in order."""
        groups = list(_grouped(batches, apart=self.options.threads > 1))
        paid = (
            _pool(self.options.threads).map(self._paid, groups) if self.options.threads > 1 else map(self._paid, groups)
        )
        for group, sums in zip(groups, paid, strict=True):
            for batch, part in zip(group, sums, strict=True):
                batch.halving.sums[batch.halving.left] += part
                batch.halving.counts[batch.halving.left] += batch.size

    def _paid(self, batches: Sequence[DealBatch]) -> list[NDArray[np.float64]]:
        """[batches] payoffs of each remaining candidate, summed over the deals."""
        parts: list[States] = []
        for batch in batches:
            decision, halving = batch.halving.decision, batch.halving
            stream = decision.stream(batch.phase, batch.index, DEALS)
            deals = sample_deals(self.determinize, decision, batch.size, stream)
            states, actions = pair_with_actions(deals, decision.legal[halving.left])
            unchecked(self.game).apply(states, actions)
            parts.append(states)
        players = [batch.halving.decision.player for batch in batches]
        streams = [batch.halving.decision.stream(batch.phase, batch.index, LEAVES) for batch in batches]
        payoffs = self._leaves(parts, players, streams)
        return [
            paid[:, player].reshape(batch.size, -1).sum(axis=0)
            for paid, player, batch in zip(payoffs, players, batches, strict=True)
        ]

    def _result(self, halving: Halving, effort: SearchEffort) -> SearchResult:
        num_actions = self.game.spec.num_actions
        scores, values = np.full(num_actions, -np.inf), np.full(num_actions, -np.inf)
        legal = halving.decision.legal
        tried = halving.counts > 0
        values[legal[tried]] = halving.sums[tried] / halving.counts[tried]
        scores[legal[halving.left]] = halving.scores(self.options)
        visits = np.zeros(num_actions, dtype=np.int64)
        visits[legal] = halving.counts
        return SearchResult(scores, values, int(halving.counts.sum()), effort, visits)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """The thread pool of this process; kept outside of MonteCarlo, which must be picklable."""
    return ThreadPoolExecutor(threads, thread_name_prefix="search")


def _grouped(batches: Sequence[DealBatch], *, apart: bool) -> Iterator[list[DealBatch]]:
    """`batches` in groups that are played together; each alone when `apart`."""
    group: list[DealBatch] = []
    rows = 0
    for batch in batches:
        new = batch.size * len(batch.halving.left)
        if group and (apart or rows + new > CHUNK_ROWS):
            yield group
            group, rows = [], 0
        group.append(batch)
        rows += new
    if group:
        yield group
