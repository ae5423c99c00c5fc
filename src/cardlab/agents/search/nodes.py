"""The tree of a tree search: nodes with the statistics of their actions, and how a descent chooses among them."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cardlab.agents.search.decisions import Decision

_ORDER = 2  # kind of the stream that orders untried actions


class Node:
    """What one player knows, with the statistics of each action."""

    __slots__ = ("actions", "pending", "player", "prior", "sums", "visits")

    def __init__(self, player: int, actions: NDArray[np.intp], prior: NDArray[np.float32] | None) -> None:
        self.player = player
        self.actions = actions  # [k]
        self.prior = prior  # [k] or none: UCT
        self.visits = np.zeros(len(actions))
        self.sums = np.zeros(len(actions))  # of the player's payoffs
        self.pending = np.zeros(len(actions))  # descents that are under way: virtual losses

    def select(self, weight: float, low: float, high: float) -> int:
        """The place of the action to take, which is then pending; payoffs are scaled by `low` … `high`."""
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
        """Mean + c · prior · √N / (1 + n); an untried action is taken for as good as the node."""
        tries = self.visits + self.pending
        total = tries.sum()
        if total == 0:
            return int(prior.argmax())
        means = self._means(np.maximum(tries, 1), low, high)
        means[tries == 0] = (means * tries).sum() / total
        return int((means + weight * prior * np.sqrt(total) / (1 + tries)).argmax())

    def _means(self, tries: NDArray[np.float64], low: float, high: float) -> NDArray[np.float64]:
        """Mean payoffs, 0 … 1; a pending descent counts as the worst seen."""
        if high <= low:
            return np.zeros(len(tries))
        return ((self.sums + self.pending * low) / tries - low) / (high - low)


@dataclass
class Tree:
    """The nodes of one decision by what tells them apart; the root comes first."""

    decision: Decision
    nodes: dict[bytes, Node] = field(default_factory=dict[bytes, Node])
    low: float = np.inf  # of the payoffs seen
    high: float = -np.inf

    def __post_init__(self) -> None:
        self._order = self.decision.stream(0, 0, _ORDER)

    def shuffled(self, actions: NDArray[np.intp]) -> NDArray[np.intp]:
        """`actions` in a random order: the first of them are tried first."""
        return self._order.permutation(actions)

    def back_up(self, path: Sequence[tuple[Node, int]], payoffs: NDArray[np.float64]) -> None:
        """Count a descent that was paid `payoffs` [P]."""
        self.low = min(self.low, float(payoffs.min()))
        self.high = max(self.high, float(payoffs.max()))
        for node, choice in path:
            node.pending[choice] -= 1
            node.visits[choice] += 1
            node.sums[choice] += payoffs[node.player]
