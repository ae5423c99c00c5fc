"""Nodes of a tree search with the statistics of their actions, and action selection."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.search.search_io import SearchDecision

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
