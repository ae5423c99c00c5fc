"""Bounds of the final rank (royalties.py) of an incomplete row, by the ranks of its cards.

A node is a multiset of at most four ranks; adding a card leads to another node. There are 2,380 nodes. The bounds
ignore which cards are unseen, so they hold for every deck.
"""

from functools import cache
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS, Cards
from cardlab.games.cards.hands import FRONT_SHIFT, front_codes, strengths
from cardlab.games.open_face.royalties import FIVE_BITS

RANK_BOUNDS = np.dtype(
    [
        ("next", np.int16, (NUM_RANKS,)),  # the node with one more card of each rank; 0 if none
        ("low", np.int32),  # weakest row of five with these ranks, in several suits
        ("high", np.int32),  # strongest row of five with these ranks, in several suits
        ("suited", np.int32),  # strongest row of five in one suit; 0 if a rank repeats
        ("low_front", np.int32),  # weakest and strongest front with these ranks; 0 for four ranks
        ("high_front", np.int32),
    ],
    align=True,
)
EMPTY = 0  # the node of no ranks
MAX_NODE_SIZE = 4

RankBounds = NDArray[np.void]
RankSet = tuple[int, ...]  # ascending multiset


@cache
def nodes() -> RankBounds:
    """[2380] records RANK_BOUNDS; index EMPTY has no ranks. Larger nodes are computed first."""
    sets: list[RankSet] = [
        ranks
        for size in range(MAX_NODE_SIZE + 1)
        for ranks in combinations_with_replacement(range(NUM_RANKS), size)
        if all(ranks.count(rank) <= NUM_SUITS for rank in ranks)
    ]
    index = {ranks: number for number, ranks in enumerate(sets)}
    table = np.zeros(len(sets), dtype=RANK_BOUNDS)
    for number, ranks in enumerate(sets):
        if len(ranks) < MAX_NODE_SIZE:
            table[number]["next"] = [index[more] for more in _add_one_rank(ranks)]
    _fill_bounds(table, sets, size=5, names=("low", "high"))
    _fill_bounds(table, sets, size=3, names=("low_front", "high_front"))
    _fill_suited(table, sets)
    return table


def _add_one_rank(ranks: RankSet) -> list[RankSet]:
    return [tuple(sorted((*ranks, rank))) for rank in range(NUM_RANKS)]


def _fill_bounds(table: RankBounds, sets: list[RankSet], size: int, names: tuple[str, str]) -> None:
    """Set the bounds over all completions to `size` ranks in several suits, from the nodes with one more card."""
    low, high = names
    last = [number for number, ranks in enumerate(sets) if len(ranks) == size - 1]
    fulls = [(number, more) for number in last for more in _add_one_rank(sets[number]) if _exists(more)]
    cards = np.array([_mixed_suit_cards(ranks) for _, ranks in fulls], dtype=np.int8)
    ranks = _five_card_ranks(cards) if size == 5 else front_codes(cards)
    rows = np.array([number for number, _ in fulls])
    table[low][last] = np.iinfo(np.int32).max
    np.minimum.at(table[low], rows, ranks)
    np.maximum.at(table[high], rows, ranks)
    for number in reversed(range(len(sets))):
        if len(sets[number]) < size - 1:
            following = table["next"][number]
            table[number][low] = table[low][following].min()
            table[number][high] = table[high][following].max()


def _five_card_ranks(cards: Cards) -> NDArray[np.int32]:
    return strengths(cards).astype(np.int32) << FRONT_SHIFT | FIVE_BITS


def _exists(ranks: RankSet) -> bool:
    return max(ranks.count(rank) for rank in set(ranks)) <= NUM_SUITS


def _mixed_suit_cards(ranks: RankSet) -> list[int]:
    """Cards of these ranks in at least two suits."""
    suits = [ranks[:place].count(rank) for place, rank in enumerate(ranks)]
    if len(set(ranks)) == len(ranks):
        suits[-1] = 1
    return [NUM_SUITS * rank + suit for rank, suit in zip(ranks, suits, strict=True)]


def _fill_suited(table: RankBounds, sets: list[RankSet]) -> None:
    distinct = [number for number, ranks in enumerate(sets) if len(set(ranks)) == len(ranks)]
    for number in reversed(distinct):
        ranks = sets[number]
        others = [rank for rank in range(NUM_RANKS) if rank not in ranks]
        if len(ranks) == MAX_NODE_SIZE:
            flushes: Cards = np.array([[NUM_SUITS * rank for rank in (*ranks, other)] for other in others], np.int8)
            table[number]["suited"] = _five_card_ranks(flushes).max()
        else:
            table[number]["suited"] = table["suited"][table["next"][number][others]].max()
