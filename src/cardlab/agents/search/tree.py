"""Information-set tree search: UCT with playouts, or PUCT with a policy's prior and values; any number of players.

A node is one InfoState (Cowling, Powley and Whitehouse 2012, with one tree for all players): every descent starts from
its own sampled deal, and positions with equal InfoStates share statistics. Each player maximises their own payoff
(max^n). UCT is Kocsis and Szepesvári 2006; PUCT Silver et al. 2017; payoffs are scaled to what
the tree has seen, as in Schrittwieser et al. 2020. Descents go down in batches, over many decisions together, kept
apart by virtual losses (Chaslot et al. 2008).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.search.leaves import BatchedLeaf, LeafEvaluator
from cardlab.agents.search.options import PuctOptions, TreeOptions
from cardlab.agents.search.search_io import (
    DEALS,
    LEAVES,
    Determinizer,
    Estimates,
    SearchDecision,
    SearchEffort,
    SearchResult,
    sample_deals,
)
from cardlab.games.array_checks import unchecked
from cardlab.games.budgets import BatchSizes, Budget
from cardlab.games.protocol import Game, InfoStates, Players, States
from cardlab.games.record_arrays import join, put, take

UCT, PUCT = 0.7, 1.25
"""Weights of exploration; payoffs are scaled to the range 0 to 1."""
_ORDER = 2  # last number of the spawn key of the stream that orders untried actions


class Node:
    """One InfoState of a player, with the statistics of each action."""

    __slots__ = ("actions", "pending", "player", "prior", "sums", "visits")

    def __init__(self, player: int, actions: NDArray[np.intp], prior: NDArray[np.float32] | None) -> None:
        self.player = player
        self.actions = actions  # [k]
        self.prior = prior  # [k]; None for UCT
        self.visits = np.zeros(len(actions))
        self.sums = np.zeros(len(actions))  # of the player's payoffs
        self.pending = np.zeros(len(actions))  # running descents: virtual losses

    def select(self, weight: float, low: float, high: float) -> int:
        """Select an action, by its place, and mark it pending; payoffs are scaled from `low` … `high` to 0 … 1."""
        if len(self.actions) == 1:
            choice = 0
        elif self.prior is None:
            choice = self._by_uct(weight, low, high)
        else:
            choice = self._by_puct(self.prior, weight, low, high)
        self.pending[choice] += 1
        return choice

    def _by_uct(self, weight: float, low: float, high: float) -> int:
        """Untried actions first; then mean + c √(ln N / n)."""
        tries = self.visits + self.pending
        untried = tries == 0
        if untried.any():
            return int(untried.argmax())
        bonus = weight * np.sqrt(np.log(tries.sum()) / tries)
        return int((self._means(tries, low, high) + bonus).argmax())

    def _by_puct(self, prior: NDArray[np.float32], weight: float, low: float, high: float) -> int:
        """Mean + c · prior · √N / (1 + n); an untried action gets the mean of the node."""
        tries = self.visits + self.pending
        total = tries.sum()
        if total == 0:
            return int(prior.argmax())
        means = self._means(np.maximum(tries, 1), low, high)
        means[tries == 0] = (means * tries).sum() / total
        return int((means + weight * prior * np.sqrt(total) / (1 + tries)).argmax())

    def _means(self, tries: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
        """Mean payoffs in 0 … 1; a pending descent counts as the lowest payoff seen."""
        if high <= low:
            return np.zeros(len(tries))
        return ((self.sums + self.pending * low) / tries - low) / (high - low)


@dataclass
class Tree:
    """The nodes of one decision by key; the root is first."""

    decision: SearchDecision
    nodes: dict[bytes, Node] = field(default_factory=dict[bytes, Node])
    low: float = np.inf  # lowest payoff seen
    high: float = -np.inf

    def __post_init__(self) -> None:
        self._order = self.decision.stream(0, 0, _ORDER)

    def shuffled(self, actions: NDArray[np.intp]) -> NDArray[np.intp]:
        """`actions` in random order, which is the order in which untried ones are selected."""
        return self._order.permutation(actions)

    def back_up(self, path: Sequence[tuple[Node, int]], payoffs: NDArray[np.float64]) -> None:
        """Add the `payoffs` [P] of a descent to the nodes on its path."""
        self.low = min(self.low, float(payoffs.min()))
        self.high = max(self.high, float(payoffs.max()))
        for node, choice in path:
            node.pending[choice] -= 1
            node.visits[choice] += 1
            node.sums[choice] += payoffs[node.player]


Path = list[tuple[Node, int]]
"""The nodes of a descent, each with the place of the selected action."""


@dataclass
class _Descents:
    """Running descents, one row each."""

    trees: list[Tree]
    states: States  # [R]
    owner: NDArray[np.intp]  # [R] place among `trees`, ascending
    paths: list[Path]  # [R]


@dataclass(frozen=True)
class TreeSearch:
    """Visits of actions by descents of a tree; see TreeOptions and PuctOptions."""

    game: Game
    leaf: LeafEvaluator
    options: TreeOptions | PuctOptions
    weight: float  # of exploration
    determinize: Determinizer
    prior: Estimates | None = None  # PUCT with a prior, UCT without

    @cached_property
    def _leaves(self) -> BatchedLeaf:
        return BatchedLeaf(self.leaf)

    @property
    def batch_sizes(self) -> BatchSizes:
        """The option `batch`: with virtual losses another batch size is another search."""
        return self.options.batch, self.options.batch

    def search(self, decisions: Sequence[SearchDecision]) -> list[SearchResult]:
        """[N] results of `decisions` [N], which are searched together."""
        trees = self._new_trees(decisions)
        done = wave = 0
        while trees and done < self.options.simulations:
            size = min(self.options.batch, self.options.simulations - done)
            self._descend(trees, wave, size)
            done, wave = done + size, wave + 1
        return [self._result(tree, ()) for tree in trees]

    def search_within(self, decision: SearchDecision, budget: Budget) -> SearchResult:
        """The result of one decision after the batches of descents that `budget` gives."""
        trees = self._new_trees([decision])
        done: list[int] = []
        while descents := budget.next_batch(0, 1, 1):
            self._descend(trees, len(done), descents)
            done.append(descents)
        return self._result(trees[0], (tuple(done),))

    def _new_trees(self, decisions: Sequence[SearchDecision]) -> list[Tree]:
        """A tree with its root for each decision."""
        trees = [Tree(decision) for decision in decisions]
        if trees:
            roots = [tree.decision.info_state for tree in trees]
            players = np.array([tree.decision.player for tree in trees], dtype=np.int8)
            self._expand(trees, join(roots), players)
        return trees

    def _expand(self, trees: Sequence[Tree], info_states: InfoStates, players: Players) -> None:
        """Add a node for `info_states` [R] to each of `trees` [R] that has none."""
        legal = self.game.legal_actions(info_states)
        priors = None if self.prior is None else self.prior(info_states, players)
        keys = _keys(info_states, players)
        for row, tree in enumerate(trees):
            if keys[row] not in tree.nodes:
                actions = np.flatnonzero(legal[row])
                if priors is None:
                    actions = tree.shuffled(actions)
                tree.nodes[keys[row]] = Node(
                    int(players[row]), actions, None if priors is None else priors[row, actions]
                )

    def _descend(self, trees: list[Tree], number: int, size: int) -> None:
        """`size` descents in each of `trees`."""
        deals = [
            sample_deals(self.determinize, tree.decision, size, tree.decision.stream(0, number, DEALS))
            for tree in trees
        ]
        owner = np.repeat(np.arange(len(trees)), size)
        wave = _Descents(trees, join(deals), owner, [[] for _ in owner])
        rows = np.arange(len(owner))
        while rows.size:
            rows = self._step(wave, rows)
        payoffs = self._payoffs(wave, number)
        for row, path in enumerate(wave.paths):
            trees[owner[row]].back_up(path, payoffs[row])

    def _step(self, wave: _Descents, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Move the descents `rows` by one decision; return those that continue."""
        here = take(wave.states, rows)
        players = self.game.current_player(here)
        going = np.flatnonzero(players >= 0)
        if going.size < rows.size:
            here, players, rows = take(here, going), players[going], rows[going]
        if rows.size == 0:
            return rows
        info_states = self.game.information(here, players)
        keys = _keys(info_states, players)
        inside: list[int] = []
        new: list[int] = []
        actions: list[int] = []
        for place, row in enumerate(rows.tolist()):
            tree, path = wave.trees[wave.owner[row]], wave.paths[row]
            if self.options.depth is not None and len(path) >= self.options.depth:
                continue
            node = tree.nodes.get(keys[place])
            if node is None:
                new.append(place)
                continue
            choice = node.select(self.weight, tree.low, tree.high)
            path.append((node, choice))
            inside.append(place)
            actions.append(int(node.actions[choice]))
        if new:
            found = np.array(new)
            trees = [wave.trees[wave.owner[rows[place]]] for place in new]
            self._expand(trees, take(info_states, found), players[found])
        if not inside:
            return rows[:0]
        moved = take(here, np.array(inside))
        unchecked(self.game).apply(moved, np.array(actions, dtype=np.int16))
        put(wave.states, rows[inside], moved)
        return rows[inside]

    def _payoffs(self, wave: _Descents, number: int) -> NDArray[np.float64]:
        """[R, P] what the descents are paid, or may expect where they stopped."""
        payoffs = self.game.payoffs(wave.states).astype(np.float64)
        unfinished = np.flatnonzero(~self.game.is_over(wave.states))
        if unfinished.size:
            numbers, firsts = np.unique(wave.owner[unfinished], return_index=True)
            parts = np.split(unfinished, firsts[1:])
            owners = [wave.trees[one].decision for one in numbers]
            streams = [owner.stream(0, number, LEAVES) for owner in owners]
            states = [take(wave.states, part) for part in parts]
            payoffs[unfinished] = np.concatenate(self._leaves(states, [owner.player for owner in owners], streams))
        return payoffs

    def _result(self, tree: Tree, effort: SearchEffort) -> SearchResult:
        num_actions = self.game.spec.num_actions
        scores, values = np.full(num_actions, -np.inf), np.full(num_actions, -np.inf)
        root = next(iter(tree.nodes.values()))
        visited = root.visits > 0
        values[root.actions[visited]] = root.sums[visited] / root.visits[visited]
        shares = (values[root.actions] - tree.low) / max(tree.high - tree.low, 1e-9)
        scores[root.actions] = root.visits + 0.5 * np.where(visited, shares, 0)  # the mean decides between equals
        visits = np.zeros(num_actions, dtype=np.int64)
        visits[root.actions] = root.visits
        return SearchResult(scores, values, int(root.visits.sum()), effort, visits)


def _keys(info_states: InfoStates, players: Players) -> list[bytes]:
    """[R] keys of nodes."""
    size = info_states.dtype.itemsize
    data = info_states.tobytes()
    return [data[row * size : (row + 1) * size] + bytes([player]) for row, player in enumerate(players.tolist())]
