"""Monte Carlo over determinizations: every candidate on the same deals, the weaker half dropped again and again.

Sequential halving (Karnin, Koren and Somekh 2013, algorithm 1): ⌈log2 k⌉ phases of equal cost for k candidates, each
with the candidates that are left. Deals are common to all candidates (common random numbers), so that the luck of the
cards cancels in their differences.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.search.budgets import Meter
from cardlab.agents.search.decisions import (
    DEALS,
    LEAVES,
    Decision,
    Determinizer,
    Effort,
    Finding,
    crossed,
    sample_deals,
)
from cardlab.agents.search.leaves import Leaf, LeafBatches
from cardlab.agents.search.options import MonteCarloOptions
from cardlab.agents.search.protocol import Estimates
from cardlab.games.protocol import Game, States
from cardlab.games.rows import join

DEALS_AT_ONCE = 256  # of one stream; part of what a seed means
ROWS_AT_ONCE = 32_768  # states that advance together, over all decisions


@dataclass
class Race:
    """The candidates of one decision, and what they were paid so far."""

    decision: Decision
    raw: NDArray[np.float64]  # [k] the policy's own estimates of the legal actions; zeros without one
    left: NDArray[np.intp]  # indices into the legal actions of those still in it
    sums: NDArray[np.float64] = field(init=False)
    counts: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.sums = np.zeros(len(self.decision.legal))
        self.counts = np.zeros(len(self.decision.legal), dtype=np.int64)
        self.num_phases = max(1, ceil(log2(max(len(self.left), 1))))

    def scores(self, raw_weight: float) -> NDArray[np.float64]:
        """[left] means of the playouts, mixed with the raw estimates."""
        means = self.sums[self.left] / np.maximum(self.counts[self.left], 1)
        return (1 - raw_weight) * means + raw_weight * self.raw[self.left] if raw_weight else means

    def halve(self, raw_weight: float) -> None:
        """Keep the better half, the earlier of equals."""
        order = np.argsort(-self.scores(raw_weight), kind="stable")
        self.left = np.sort(self.left[order[: (len(self.left) + 1) // 2]])


@dataclass(frozen=True)
class Batch:
    """Some deals of one phase of a race."""

    race: Race
    phase: int
    index: int
    size: int


@dataclass(frozen=True)
class MonteCarlo:
    """Values of actions by playouts; see MonteCarloOptions."""

    game: Game
    leaf: Leaf
    options: MonteCarloOptions
    determinize: Determinizer
    estimates: Estimates | None = None  # the policy's own, where the options want them
    _batches: LeafBatches = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_batches", LeafBatches(self.leaf))

    @property
    def smallest_batch(self) -> int:
        """One deal."""
        return 1

    @property
    def largest_batch(self) -> int:
        """DEALS_AT_ONCE."""
        return DEALS_AT_ONCE

    def search(self, decisions: Sequence[Decision]) -> list[Finding]:
        """[N] findings of `decisions` [N], which advance together."""
        races = self._races(decisions)
        for phase in range(max((race.num_phases for race in races), default=0)):
            running = [race for race in races if phase < race.num_phases]
            self._run([batch for race in running for batch in self._share(race, phase)])
            for race in running:
                if phase < race.num_phases - 1:
                    race.halve(self.options.raw_weight)
        return [self._finding(race, Effort(DEALS_AT_ONCE, ())) for race in races]

    def metered(self, decision: Decision, meter: Meter, size: int) -> Finding:
        """The finding of one decision, by batches of `size` deals as long as `meter` says."""
        (race,) = self._races([decision])
        done: list[int] = []
        for phase in range(race.num_phases):
            done.append(0)
            while meter.more(phase, race.num_phases, done[-1]):
                self._run([Batch(race, phase, done[-1] + thread, size) for thread in range(self.options.threads)])
                done[-1] += self.options.threads
            if phase < race.num_phases - 1:
                race.halve(self.options.raw_weight)
        return self._finding(race, Effort(size, tuple(done)))

    def _races(self, decisions: Sequence[Decision]) -> list[Race]:
        raw = self._raw(decisions)
        races: list[Race] = []
        for decision, estimates in zip(decisions, raw, strict=True):
            left = np.arange(len(decision.legal))
            if self.options.candidates is not None:
                left = np.sort(np.argsort(-estimates, kind="stable")[: self.options.candidates])
            races.append(Race(decision, estimates, left))
        return races

    def _raw(self, decisions: Sequence[Decision]) -> list[NDArray[np.float64]]:
        """[N] raw estimates of the legal actions."""
        if self.estimates is None or not decisions:
            return [np.zeros(len(decision.legal)) for decision in decisions]
        info_states = join([decision.info_state for decision in decisions])
        players = np.array([decision.player for decision in decisions], dtype=np.int8)
        values = self.estimates(info_states, players).astype(np.float64)
        return [row[decision.legal] for row, decision in zip(values, decisions, strict=True)]

    def _share(self, race: Race, phase: int) -> Iterator[Batch]:
        """The deals of one phase: an equal share of the budget for each candidate that is left, at least one."""
        deals = max(1, self.options.simulations // (race.num_phases * len(race.left)))
        for index, first in enumerate(range(0, deals, DEALS_AT_ONCE)):
            yield Batch(race, phase, index, min(DEALS_AT_ONCE, deals - first))

    def _run(self, batches: Sequence[Batch]) -> None:
        """Play `batches` and add up what was paid, in their order."""
        groups = list(_grouped(batches, apart=self.options.threads > 1))
        paid = (
            _pool(self.options.threads).map(self._paid, groups) if self.options.threads > 1 else map(self._paid, groups)
        )
        for group, sums in zip(groups, paid, strict=True):
            for batch, part in zip(group, sums, strict=True):
                batch.race.sums[batch.race.left] += part
                batch.race.counts[batch.race.left] += batch.size

    def _paid(self, batches: Sequence[Batch]) -> list[NDArray[np.float64]]:
        """[batches] what each candidate that is left was paid, summed over the deals."""
        parts: list[States] = []
        for batch in batches:
            decision, race = batch.race.decision, batch.race
            stream = decision.stream(batch.phase, batch.index, DEALS)
            deals = sample_deals(self.determinize, decision, batch.size, stream)
            states, actions = crossed(deals, decision.legal[race.left])
            self.game.apply(states, actions)
            parts.append(states)
        players = [batch.race.decision.player for batch in batches]
        streams = [batch.race.decision.stream(batch.phase, batch.index, LEAVES) for batch in batches]
        payoffs = self._batches(parts, players, streams)
        return [
            paid[:, player].reshape(batch.size, -1).sum(axis=0)
            for paid, player, batch in zip(payoffs, players, batches, strict=True)
        ]

    def _finding(self, race: Race, effort: Effort) -> Finding:
        num_actions = self.game.spec.num_actions
        scores, values = np.full(num_actions, -np.inf), np.full(num_actions, -np.inf)
        legal = race.decision.legal
        tried = race.counts > 0
        values[legal[tried]] = race.sums[tried] / race.counts[tried]
        scores[legal[race.left]] = race.scores(self.options.raw_weight)
        return Finding(scores, values, int(race.counts.sum()), effort)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """The threads of this process: no part of a search, which may be sent to another one."""
    return ThreadPoolExecutor(threads, thread_name_prefix="search")


def _grouped(batches: Sequence[Batch], *, apart: bool) -> Iterator[list[Batch]]:
    """`batches` in groups that advance together, each alone when `apart`."""
    group: list[Batch] = []
    rows = 0
    for batch in batches:
        new = batch.size * len(batch.race.left)
        if group and (apart or rows + new > ROWS_AT_ONCE):
            yield group
            group, rows = [], 0
        group.append(batch)
        rows += new
    if group:
        yield group
