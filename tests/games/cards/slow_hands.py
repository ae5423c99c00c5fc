"""A plain, slow evaluator, written from the rules of poker alone: the reference that the table is compared with."""

from collections import Counter
from collections.abc import Sequence

from cardlab.games.cards.hands import (
    FLUSH,
    FOUR,
    FULL_HOUSE,
    HIGH_CARD,
    PAIR,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE,
    TWO_PAIR,
)

Order = tuple[int, tuple[int, ...]]

_BY_COUNTS = {(4,): FOUR, (4, 1): FOUR, (3, 2): FULL_HOUSE, (2, 2): TWO_PAIR, (2, 2, 1): TWO_PAIR}


def order_of(cards: Sequence[int]) -> Order:
    """(category, ranks from the most telling) of one to five cards; compares as poker hands do."""
    counts = Counter(card // 4 for card in cards)
    ranks = tuple(sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True))
    shape = tuple(counts[rank] for rank in ranks)
    if len(cards) == 5 and shape == (1, 1, 1, 1, 1):
        return _five_different(cards, ranks)
    if shape in _BY_COUNTS:
        return _BY_COUNTS[shape], ranks
    return {3: THREE, 2: PAIR, 1: HIGH_CARD}[shape[0]], ranks


def _five_different(cards: Sequence[int], ranks: tuple[int, ...]) -> Order:
    flush = len({card % 4 for card in cards}) == 1
    if ranks == (12, 3, 2, 1, 0):
        ranks = (3, 2, 1, 0, -1)  # the ace counts as one
    if ranks[0] - ranks[4] == 4:
        if not flush:
            return STRAIGHT, ranks
        return (ROYAL_FLUSH if ranks[0] == 12 else STRAIGHT_FLUSH), ranks
    return (FLUSH if flush else HIGH_CARD), ranks


def compare_with_front(five: Sequence[int], front: Sequence[int]) -> int:
    """1, 0 or -1 as `five` beats, equals or loses to `front`: by category, then by as many ranks as the front has."""
    category, ranks = order_of(five)
    front_category, front_ranks = order_of(front)
    ours = (category, ranks[: len(front_ranks)])
    theirs = (front_category, front_ranks)
    return (ours > theirs) - (ours < theirs)
