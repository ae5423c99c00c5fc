"""What a row that is not complete may still become: bounds of its rank (royalties.py), by the ranks it holds.

A set of at most four ranks (with repeats) is a node; placing a card follows an arrow to another node. There are 2,380.
The bounds leave aside which cards are unseen: they hold for every deck, so what follows from them is certain.
"""

from functools import cache
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from cardlab.games.cards.deck import NUM_RANKS, NUM_SUITS, Cards
from cardlab.games.cards.hands import FRONT_SHIFT, front_codes, strengths
from cardlab.games.open_face.royalties import FIVE_BITS

NODE = np.dtype(
    [
        ("next", np.int16, (NUM_RANKS,)),  # the node with one more card of each rank; 0 when there is none
        ("low", np.int32),  # the weakest row of five that holds these ranks, in more than one suit
        ("high", np.int32),  # the strongest such row
        ("suited", np.int32),  # the strongest row of five in one suit; 0 when a rank repeats
        ("low_front", np.int32),  # the weakest and the strongest front that hold these ranks; 0 for four ranks
        ("high_front", np.int32),
    ],
    align=True,
)
EMPTY = 0  # the node of no ranks
MAX_NODE_SIZE = 4

Nodes = NDArray[np.void]
RankSet = tuple[int, ...]  # ascending, with repeats


@cache
def nodes() -> Nodes:
    """[2380] records NODE; index EMPTY has no ranks. Filled from the fullest nodes to the empty one."""
    sets: list[RankSet] = [
        ranks
        for size in range(MAX_NODE_SIZE + 1)
        for ranks in combinations_with_replacement(range(NUM_RANKS), size)
        if all(ranks.count(rank) <= NUM_SUITS for rank in ranks)
    ]
    index = {ranks: number for number, ranks in enumerate(sets)}
    table = np.zeros(len(sets), dtype=NODE)
    for number, ranks in enumerate(sets):
        if len(ranks) < MAX_NODE_SIZE:
            table[number]["next"] = [index[more] for more in _with_one_more(ranks)]
    _fill_bounds(table, sets, size=5, names=("low", "high"))
    _fill_bounds(table, sets, size=3, names=("low_front", "high_front"))
    _fill_suited(table, sets)
    return table


def _with_one_more(ranks: RankSet) -> list[RankSet]:
    return [tuple(sorted((*ranks, rank))) for rank in range(NUM_RANKS)]


def _fill_bounds(table: Nodes, sets: list[RankSet], size: int, names: tuple[str, str]) -> None:
    """Bounds over all completions to `size` ranks in mixed suits, by the nodes one card nearer to that."""
    low, high = names
    last = [number for number, ranks in enumerate(sets) if len(ranks) == size - 1]
    fulls = [(number, more) for number in last for more in _with_one_more(sets[number]) if _exists(more)]
    cards = np.array([_mixed(ranks) for _, ranks in fulls], dtype=np.int8)
    ranks = _ranks_of_fives(cards) if size == 5 else front_codes(cards)
    rows = np.array([number for number, _ in fulls])
    table[low][last] = np.iinfo(np.int32).max
    np.minimum.at(table[low], rows, ranks)
    np.maximum.at(table[high], rows, ranks)
    for number in reversed(range(len(sets))):
        if len(sets[number]) < size - 1:
            following = table["next"][number]
            table[number][low] = table[low][following].min()
            table[number][high] = table[high][following].max()


def _ranks_of_fives(cards: Cards) -> NDArray[np.int32]:
    return strengths(cards).astype(np.int32) << FRONT_SHIFT | FIVE_BITS


def _exists(ranks: RankSet) -> bool:
    return max(ranks.count(rank) for rank in set(ranks)) <= NUM_SUITS


def _mixed(ranks: RankSet) -> list[int]:
    """Cards of these ranks in at least two suits."""
    suits = [ranks[:place].count(rank) for place, rank in enumerate(ranks)]
    if len(set(ranks)) == len(ranks):
        suits[-1] = 1
    return [NUM_SUITS * rank + suit for rank, suit in zip(ranks, suits, strict=True)]


def _fill_suited(table: Nodes, sets: list[RankSet]) -> None:
    distinct = [number for number, ranks in enumerate(sets) if len(set(ranks)) == len(ranks)]
    for number in reversed(distinct):
        ranks = sets[number]
        others = [rank for rank in range(NUM_RANKS) if rank not in ranks]
        if len(ranks) == MAX_NODE_SIZE:
            flushes: Cards = np.array([[NUM_SUITS * rank for rank in (*ranks, other)] for other in others], np.int8)
            table[number]["suited"] = _ranks_of_fives(flushes).max()
        else:
            table[number]["suited"] = table["suited"][table["next"][number][others]].max()
