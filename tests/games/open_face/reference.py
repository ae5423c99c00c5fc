"""Open-face rules in plain Python, written from the specification, independent of the kernels."""

from collections import Counter
from dataclasses import dataclass, field

RANKS = "23456789TJQKA"
CATEGORIES = (
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
MIDDLE_ROYALTIES = {
    "three of a kind": 2,
    "straight": 4,
    "flush": 8,
    "full house": 12,
    "four of a kind": 20,
    "straight flush": 30,
    "royal flush": 50,
}
BACK_ROYALTIES = {
    "straight": 2,
    "flush": 4,
    "full house": 6,
    "four of a kind": 10,
    "straight flush": 15,
    "royal flush": 25,
}
CAPACITIES = (3, 5, 5)


def hand_value(cards: list[str]) -> tuple[str, list[int]]:
    """Category of three or five cards, and their ranks (2 to 14) in order of significance."""
    ranks = [RANKS.index(card[0]) + 2 for card in cards]
    groups = sorted(Counter(ranks).items(), key=lambda item: (item[1], item[0]), reverse=True)
    order = [rank for rank, _ in groups]
    counts = [count for _, count in groups]
    by_counts = {(4, 1): "four of a kind", (3, 2): "full house", (2, 2, 1): "two pair"}
    name = by_counts.get(tuple(counts), {3: "three of a kind", 2: "pair"}.get(counts[0], "high card"))
    if name == "high card" and len(cards) == 5:
        wheel = order == [14, 5, 4, 3, 2]
        straight = wheel or order[0] - order[4] == 4
        flush = len({card[1] for card in cards}) == 1
        if wheel:
            order = [5, 4, 3, 2, 1]
        if straight or flush:
            name = " ".join(["straight"] * straight + ["flush"] * flush)
    return name, order


def compare(cards: list[str], others: list[str]) -> int:
    """1, 0 or -1: by category, then by the ranks that both hands have."""
    category, order = hand_value(cards)
    other_category, other_order = hand_value(others)
    shared = min(len(order), len(other_order))
    mine = (CATEGORIES.index(category), order[:shared])
    theirs = (CATEGORIES.index(other_category), other_order[:shared])
    return (mine > theirs) - (mine < theirs)


def royalty(row: int, cards: list[str]) -> int:
    category, order = hand_value(cards)
    if row == 0:
        if category == "three of a kind":
            return 10 + order[0] - 2
        return max(order[0] - 5, 0) if category == "pair" else 0
    if category == "straight flush" and order[0] == 14:
        category = "royal flush"
    return (MIDDLE_ROYALTIES if row == 1 else BACK_ROYALTIES).get(category, 0)


def fouled(board: list[list[str]]) -> bool:
    front, middle, back = board
    return compare(back, middle) < 0 or compare(middle, front) < 0


def points(board: list[list[str]], other: list[list[str]]) -> int:
    """Points that `board` wins from `other`."""
    if fouled(board) or fouled(other):
        valid = fouled(other) - fouled(board)
        winner = board if valid == 1 else other
        return valid * (6 + sum(royalty(row, winner[row]) for row in range(3)))
    results = [compare(board[row], other[row]) for row in range(3)]
    total = sum(results)
    if abs(total) == 3:
        total += total
    return total + sum(royalty(row, board[row]) - royalty(row, other[row]) for row in range(3))


@dataclass
class Reference:
    """One game with the cards of `deck` in the order of play."""

    deck: list[str]
    boards: list[list[list[str]]] = field(default_factory=lambda: [[[], [], []], [[], [], []]])
    placed: int = 0

    def mover(self) -> int:
        if self.placed == 26:
            return -1
        schedule = [0] * 5 + [1] * 5 + [0, 1] * 8
        return schedule[self.placed]

    def seen(self) -> list[str]:
        """Face-up cards."""
        if self.placed < 5:
            return self.deck[:5]
        if self.placed < 10:
            return self.deck[:10]
        return self.deck[: min(self.placed + 1, 26)]

    def legal(self) -> list[int]:
        if self.mover() < 0:
            return []
        board = self.boards[self.mover()]
        return [row for row in range(3) if len(board[row]) < CAPACITIES[row]]

    def place(self, row: int) -> None:
        self.boards[self.mover()][row].append(self.deck[self.placed])
        self.placed += 1

    def payoffs(self) -> list[int]:
        if self.placed < 26:
            return [0, 0]
        return [points(self.boards[0], self.boards[1]), points(self.boards[1], self.boards[0])]
