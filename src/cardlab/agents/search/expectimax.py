"""Expectimax averaged over clairvoyance: an open-card search on each sampled deck, and a vote of the decks.

Alpha-beta on the payoff of the searching player, which the others minimise (with more than two players: the paranoid
assumption of Sturtevant and Korf 2000). The search is depth-first over a batch of decks and decisions; each row has its
own window and leaves the batch at a cutoff. The children of the last decision are expanded together, since their leaves
are one batch. Source of the averaging and the vote: the Five-O paper.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.search.leaves import BatchedLeaf, LeafEvaluator
from cardlab.agents.search.options import ExpectimaxOptions
from cardlab.agents.search.search_io import (
    DEALS,
    LEAVES,
    Determinizer,
    SearchDecision,
    SearchEffort,
    SearchResult,
    sample_deals,
)
from cardlab.games.array_checks import unchecked
from cardlab.games.budgets import BatchSizes, Budget
from cardlab.games.protocol import Game, Players, States
from cardlab.games.record_arrays import join, take

CHUNK_ROWS = 4096  # decks that are searched together, over all decisions
CHUNK_DECKS = 4  # per batch of a timed search

Values = NDArray[np.float64]


class _Expired(Exception):
    """The time is up: the running batch is discarded."""


@dataclass
class _Pass:
    """What the recursion over one batch of decks shares."""

    owners: list[SearchDecision]
    streams: list[np.random.Generator]  # one per owner
    budget: Budget | None = None


@dataclass
class _Rows:
    """Positions in the batch; each belongs to an owner, whose player maximises."""

    states: States  # [R]
    owner: NDArray[np.intp]  # [R] ascending
    player: Players  # [R]

    def at(self, rows: NDArray[np.intp]) -> "_Rows":
        return _Rows(take(self.states, rows), self.owner[rows], self.player[rows])


@dataclass(frozen=True)
class Expectimax:
    """Values of actions by search of sampled decks; see ExpectimaxOptions."""

    game: Game
    leaf: LeafEvaluator
    options: ExpectimaxOptions
    determinize: Determinizer

    @cached_property
    def _leaves(self) -> BatchedLeaf:
        return BatchedLeaf(self.leaf)

    @property
    def batch_sizes(self) -> BatchSizes:
        """A few decks: the time of a deck depends on the position."""
        return CHUNK_DECKS, CHUNK_DECKS

    def search(self, decisions: Sequence[SearchDecision]) -> list[SearchResult]:
        """[N] results of `decisions` [N], which are searched together."""
        decks, depth = self.options.decks, self.options.depth
        together = max(1, CHUNK_ROWS // decks)
        results: list[SearchResult] = []
        for first in range(0, len(decisions), together):
            part = list(decisions[first : first + together])
            values = self._root_values(part, decks, depth, 0, None)
            for decision, own in zip(part, values, strict=True):
                results.append(self._result(decision, own, ()))
        return results

    def search_within(self, decision: SearchDecision, budget: Budget) -> SearchResult:
        """The result of one decision: a batch of decks at depth 1, then batches at the full depth."""
        found: list[Values] = []
        if decks := budget.next_batch(0, 2, 1):
            found = self._root_values([decision], decks, 1, 0, None)
        done = (decks,) if decks else ()
        deep: list[Values] = []
        while decks := budget.next_batch(1, 2, 1):
            try:
                deep += self._root_values([decision], decks, self.options.depth, 1 + len(deep), budget)
            except _Expired:
                break
        values = np.concatenate(deep or found) if deep or found else np.zeros((1, len(decision.legal)))
        return self._result(decision, values, (done, tuple(map(len, deep))))

    def _root_values(
        self, decisions: list[SearchDecision], decks: int, depth: int, batch: int, budget: Budget | None
    ) -> list[Values]:
        """[N] values [decks, k] of the legal actions on each deck; for votes, bounds where an action is not best."""
        deals = [sample_deals(self.determinize, one, decks, one.stream(0, batch, DEALS)) for one in decisions]
        state = _Pass(decisions, [one.stream(0, batch, LEAVES) for one in decisions], budget)
        owner = np.repeat(np.arange(len(decisions)), decks)
        player = np.array([one.player for one in decisions], dtype=np.int8)[owner]
        rows = _Rows(join(deals), owner, player)
        most = max(len(one.legal) for one in decisions)
        actions = np.full((len(owner), most), -1, dtype=np.int16)
        for number, one in enumerate(decisions):
            actions[owner == number, : len(one.legal)] = one.legal
        values = np.full((len(owner), most), -np.inf)
        alpha = np.full(len(owner), -np.inf)
        for place in range(most):
            here = np.flatnonzero(actions[:, place] >= 0)
            window = alpha[here] if self.options.choose == "votes" else np.full(here.size, -np.inf)
            child = self._moved(rows, here, actions[here, place])
            values[here, place] = self._value(state, child, depth - 1, window, np.full(here.size, np.inf))
            alpha[here] = np.maximum(alpha[here], values[here, place])
        return [values[owner == number, : len(one.legal)] for number, one in enumerate(decisions)]

    def _value(self, state: _Pass, rows: _Rows, depth: int, alpha: Values, beta: Values) -> Values:
        """[R] payoffs of the searching players under best play; bounds outside of alpha … beta [R]."""
        if state.budget is not None and state.budget.expired():
            raise _Expired
        movers = self.game.current_player(rows.states)
        going = np.flatnonzero(movers >= 0)
        if depth == 0 or going.size == 0:
            return self._leaf_values(state, rows)
        values = np.empty(len(movers))
        ended = np.flatnonzero(movers < 0)
        if ended.size:
            values[ended] = self._leaf_values(state, rows.at(ended))
            rows, alpha, beta, movers = rows.at(going), alpha[going], beta[going], movers[going]
        actions = self._listed_actions(rows)
        best = np.where(movers == rows.player, 1.0, -1.0)  # sign of a good value for the player to move
        if depth == 1:
            values[going] = self._last_values(state, rows, actions, best)
        else:
            values[going] = self._alpha_beta(state, rows, depth, (alpha.copy(), beta.copy()), (actions, best))
        return values

    def _alpha_beta(
        self,
        state: _Pass,
        rows: _Rows,
        depth: int,
        window: tuple[Values, Values],
        moves: tuple[NDArray[np.int16], Values],
    ) -> Values:
        (alpha, beta), (actions, best) = window, moves
        values = -best * np.inf
        for place in range(actions.shape[1]):
            here = np.flatnonzero((actions[:, place] >= 0) & (alpha < beta))
            if here.size == 0:
                continue
            child = self._moved(rows, here, actions[here, place])
            found = self._value(state, child, depth - 1, alpha[here], beta[here])
            values[here] = best[here] * np.maximum(best[here] * values[here], best[here] * found)
            rising = best[here] > 0
            alpha[here] = np.where(rising, np.maximum(alpha[here], values[here]), alpha[here])
            beta[here] = np.where(rising, beta[here], np.minimum(beta[here], values[here]))
        return values

    def _last_values(self, state: _Pass, rows: _Rows, actions: NDArray[np.int16], best: Values) -> Values:
        """The best leaf after one more decision."""
        row, place = np.nonzero(actions >= 0)
        found = self._leaf_values(state, self._moved(rows, row, actions[row, place]))
        starts = np.searchsorted(row, np.arange(len(best)))
        return best * np.maximum.reduceat(best[row] * found, starts)

    def _moved(self, rows: _Rows, here: NDArray[np.intp], actions: NDArray[np.int16]) -> _Rows:
        child = rows.at(here)
        unchecked(self.game).apply(child.states, actions)
        return child

    def _listed_actions(self, rows: _Rows) -> NDArray[np.int16]:
        """[R, k] the legal actions; -1 behind the last."""
        legal = self.game.legal_actions(rows.states)
        counts = legal.sum(axis=1)
        order = np.argsort(~legal, axis=1, kind="stable")
        places = np.arange(counts.max())
        return np.where(places < counts[:, None], order[:, : len(places)], -1).astype(np.int16)

    def _leaf_values(self, state: _Pass, rows: _Rows) -> Values:
        """[R] payoffs of the searching players, final or estimated."""
        over = self.game.is_over(rows.states)
        values = self.game.payoffs(rows.states)[np.arange(len(over)), rows.player].astype(np.float64)
        going = rows.at(np.flatnonzero(~over))
        if len(going.owner):
            numbers, firsts = np.unique(going.owner, return_index=True)
            parts = [take(going.states, part) for part in np.split(np.arange(len(going.owner)), firsts[1:])]
            players = [state.owners[number].player for number in numbers]
            payoffs = self._leaves(parts, players, [state.streams[number] for number in numbers])
            found = [paid[:, player] for paid, player in zip(payoffs, players, strict=True)]
            values[~over] = np.concatenate(found)
        return values

    def _result(self, decision: SearchDecision, values: Values, effort: SearchEffort) -> SearchResult:
        """The result for values [decks, k] of the legal actions."""
        num_actions = self.game.spec.num_actions
        means, scores = np.full(num_actions, -np.inf), np.full(num_actions, -np.inf)
        own = values.mean(axis=0)
        means[decision.legal] = own
        if self.options.choose == "votes":
            votes = np.bincount(values.argmax(axis=1), minlength=len(own))
            spread = own.max() - own.min()
            ties = (own - own.min()) / spread if spread > 0 else np.zeros(len(own))
            own = votes + 0.5 * ties  # the mean decides ties
        scores[decision.legal] = own
        visits = np.where(np.isfinite(means), len(values), 0)
        return SearchResult(scores, means, len(values), effort, visits)
