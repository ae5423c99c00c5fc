"""Poker Squares in plain Python, written from the specification, independent of the kernels."""

from collections import Counter
from itertools import combinations

AMERICAN = [0, 2, 5, 10, 15, 20, 25, 50, 75, 100]
BRITISH = [0, 1, 3, 6, 12, 5, 10, 16, 30, 30]
NAMES = [
    "high card",
    "pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
    "royal flush",
]
RUNS = [{12, 0, 1, 2, 3}] + [set(range(low, low + 5)) for low in range(9)]


def hand_name(cards):
    """The best category of up to five cards."""
    ranks = [card // 4 for card in cards]
    counts = sorted(Counter(ranks).values(), reverse=True)
    full = len(cards) == 5
    flush = full and len({card % 4 for card in cards}) == 1
    straight = full and set(ranks) in RUNS
    checks = {
        "royal flush": flush and set(ranks) == {8, 9, 10, 11, 12},
        "straight flush": flush and straight,
        "four of a kind": counts[:1] == [4],
        "full house": counts == [3, 2],
        "flush": flush,
        "straight": straight,
        "three of a kind": counts[:1] == [3],
        "two pair": counts[:2] == [2, 2],
        "pair": counts[:1] == [2],
        "high card": True,
    }
    return next(name for name, holds in checks.items() if holds)


def lines_of(grid):
    """The ten lines of a list of 25 cells (None where empty), each a list of its five cells."""
    rows = [grid[5 * row : 5 * row + 5] for row in range(5)]
    columns = [[rows[row][column] for row in range(5)] for column in range(5)]
    return rows + columns


def grid_value(grid, scores):
    """Sum of the current scores of the ten lines."""
    return sum(scores[NAMES.index(hand_name([c for c in line if c is not None]))] for line in lines_of(grid))


class SlowGame:
    """One game: the order of its cards, and the grid."""

    def __init__(self, deck):
        self.deck = [int(card) for card in deck]
        self.grid = [None] * 25
        self.turn = 0

    @property
    def over(self):
        return self.turn == 25

    @property
    def card(self):
        return None if self.over else self.deck[self.turn]

    def legal(self):
        return [] if self.over else [cell for cell in range(25) if self.grid[cell] is None]

    def place(self, cell):
        assert cell in self.legal()
        self.grid[cell] = self.card
        self.turn += 1

    def payoff(self, scores):
        return grid_value(self.grid, scores) if self.over else 0


def all_hands():
    """Every hand of five cards."""
    return combinations(range(52), 5)
