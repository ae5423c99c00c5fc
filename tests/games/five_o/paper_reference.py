"""A plain, slow account of what the program of the Five-O paper computes, in exact fractions.

Hands are lists of cards. `unseen` are the cards that the owner of a hand has not seen; `turn` counts placed cards.
"""

from fractions import Fraction
from functools import cache
from math import comb, exp, prod, tanh

import numpy as np

from cardlab.games.cards.hands import strengths

ORDER = (4, 3, 0, 2, 1)
"""Columns in the order in which the program prefers equal ones."""

FLUSH_CLASSES = {
    12: (815, 323),
    11: (1144, 816),
    10: (1353, 1145),
    9: (1477, 1354),
    8: (1546, 1478),
    7: (1581, 1547),
    6: (1595, 1582),
}


def strength(hand):
    return int(strengths(np.array([hand]))[0])


@cache
def guaranteed(ranks):
    """Strength that `ranks`, an ascending tuple, are taken to reach at least; suits mixed."""
    if len(ranks) == 5:
        return strength([4 * rank + place % 4 for place, rank in enumerate(ranks)])
    if len(ranks) == 4:
        low, high = ranks[0], ranks[3]
        banned = set(ranks)
        if len(banned) == 4 and high - low <= 4:
            margin = 1 if high - low == 3 else 0
            banned = set(range(low - margin, high + margin + 1))
        kicker = min(rank for rank in range(13) if rank not in banned)
        return guaranteed(tuple(sorted([*ranks, kicker])))
    return min(guaranteed(tuple(sorted([*ranks, rank]))) for rank in range(13))


def flush_value(highest):
    worst, best = FLUSH_CLASSES.get(highest, (1599, 1596))
    return 7463 - (worst + best) // 2


def straight_value(highest):
    return 7463 - 1600 - (12 - max(highest, 3))


def ranks_of(hand):
    return tuple(sorted(card // 4 for card in hand))


def one_suit(hand):
    return len({card % 4 for card in hand}) == 1


def span(hand):
    """Lowest and highest rank; an ace is -1 where the lowest rank is below a 6."""
    ranks = ranks_of(hand)
    if ranks[-1] == 12 and ranks[0] < 4:
        return -1, max([rank for rank in ranks if rank < 12])
    return ranks[0], ranks[-1]


def windows(hand):
    """The ranks that each straight in sight lacks; -1 is the ace."""
    lowest, highest = span(hand)[0], max(ranks_of(hand))
    for low in range(max(-1, highest - 4), lowest + 1):
        if low + 4 <= 12:
            yield [rank % 13 for rank in range(low, low + 5) if rank % 13 not in ranks_of(hand)]


def draws_after(turn):
    return (40 - -(-turn // 10) * 10) // 2


def mixed(hand, flush, straight):
    size, highest = len(hand), max(ranks_of(hand))
    now = guaranteed(ranks_of(hand))
    later = flush * flush_value(highest) + straight * straight_value(highest)
    return (1 - flush - straight) * now + later * Fraction(size, 5)


def eval_hand(hand, unseen, turn):
    if len(hand) == 5:
        return Fraction(strength(hand))
    total, draws, needed = len(unseen), draws_after(turn), 5 - len(hand)
    flush = straight = Fraction(0)
    if one_suit(hand) and draws >= needed:
        suited = sum(card % 4 == hand[0] % 4 for card in unseen)
        flush = Fraction(comb(suited, needed) * comb(total - suited, draws - needed), comb(total, draws))
    low, high = span(hand)
    if len(set(ranks_of(hand))) == len(hand) and high - low <= 4 and draws >= needed:
        for lacking in windows(hand):
            counts = [sum(card // 4 == rank for card in unseen) for rank in lacking]
            straight += Fraction(prod(counts) * comb(total - sum(counts), draws - needed), comb(total, draws))
    return mixed(hand, flush, straight)


def fast_eval(hand, unseen, turn=0):
    if len(hand) == 5:
        return Fraction(strength(hand))
    flush = straight = Fraction(0)
    if one_suit(hand):
        flush = Fraction(sum(card % 4 == hand[0] % 4 for card in unseen), len(unseen))
    low, high = span(hand)
    if high - low <= 4:
        for lacking in windows(hand):
            straight += prod(Fraction(sum(card // 4 == rank for card in unseen), len(unseen)) for rank in lacking)
    return mixed(hand, flush, straight)


def pack_expect(hand, unseen=(), turn=0):
    ranks = ranks_of(hand)
    points = Fraction(ranks[-1], 12)
    if one_suit(hand):
        points += Fraction(2 * len(hand), 5)
    if ranks[-1] - ranks[0] <= 4:
        points += Fraction(2 * len(hand), 5)
    if one_suit(hand) and ranks == (8, 9, 10, 11, 12):
        points += 4
    return points


def state_value(name, own, opposite, unseen, turn):
    """Value of a state by greedy_1, greedy_2 (of these the product whose logarithm it sums) or fast_greedy_2."""
    if turn == 40:
        return sum(exp(tanh(9 * (strength(a) - strength(b)) / 7463)) for a, b in zip(own, opposite, strict=True))
    value = {"greedy_1": pack_expect, "greedy_2": eval_hand, "fast_greedy_2": fast_eval}[name]
    pairs = [(value(a, unseen, turn), value(b, unseen, turn)) for a, b in zip(own, opposite, strict=True)]
    if name == "greedy_1":
        return sum(exp(tanh(9 * float(a - b) / 16)) for a, b in pairs)
    return prod(a / b for a, b in pairs)


def scores(name, own, opposite, card, unseen):
    """Number that the agent `name` maximises, for each column that may take `card`; `unseen` are without it."""
    turn = sum(map(len, own + opposite)) - 10
    found = {}
    for column, hand in enumerate(own):
        if len(hand) > min(map(len, own)):
            continue
        after = [*own[:column], [*hand, card], *own[column + 1 :]]
        value = eval_hand(after[column], unseen, turn + 1) if name.startswith("reflex") else None
        if name == "reflex_1":
            found[column] = value - eval_hand(opposite[column], unseen, turn + 1)
        elif name == "reflex_2":
            found[column] = value
        elif name == "reflex_3":
            found[column] = value - eval_hand(hand, [*unseen, card], turn)
        else:
            found[column] = state_value(name, after, opposite, unseen, turn + 1)
    return found


def split_record(state, player):
    """Own and opposite columns, the card to place, and the unseen cards of a record."""
    own, opposite = (
        [[int(card) for card in column if card >= 0] for column in state["columns"][side]]
        for side in (player, 1 - player)
    )
    card = int(state["deck"][int(state["turn"])])
    seen = {card, *(one for hand in own + opposite for one in hand)}
    return own, opposite, card, [one for one in range(52) if one not in seen]
