"""Playouts by the greedy agent at every seat, in one kernel, for Monte Carlo search.

The greedy agent plays here on bit sets, without a mask of actions. A set of cards is an integer with one bit per card
of Big 2's order, 0 to 51; rank r is the four bits from 4·r on. Positions of a sorted hand ascend with its cards, so the
first action of a size is the lexicographically first set: of two sets of one size, the one that holds the lowest card
in which they differ.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.array_checks import checked_function
from cardlab.games.big2.actions import (
    DIAMONDS,
    FLUSH,
    FOUR,
    FULL_HOUSE,
    KIND_SIZES,
    NO_KIND,
    SINGLE,
    STRAIGHT,
    STRAIGHT_FLUSH,
    TWO_PAIR,
)
from cardlab.games.big2.game import Big2
from cardlab.games.big2.rules import OVER, PLAYING, hand_bits, payoffs
from cardlab.games.cards.hands import count_bits, highest_bit, lowest_bit
from cardlab.games.protocol import Floats, States
from cardlab.games.record_arrays import copied

Play = tuple[int, int, int]
"""Cards as bits (0: pass), kind and deciding card."""


def _first_groups(size: int) -> np.ndarray:
    """[16, 5] the first `size` suits among a rank's four bits whose last suit is at least the second index, as bits."""
    groups = np.zeros((16, 5), dtype=np.int64)
    for bits in range(16):
        suits = [suit for suit in range(4) if bits >> suit & 1]
        for least in range(5):
            fits = (group for group in combinations(suits, size) if group[-1] >= least)
            groups[bits, least] = sum(1 << suit for suit in next(fits, ()))
    return groups


_FIRST_PAIRS = _first_groups(2)
_FIRST_THREES = _first_groups(3)


@kernel
def greedy_play(hand: int, kind: int, key: int) -> Play:
    """The greedy play from `hand` on a hand of `kind` and `key`: the most cards, then the first action.

    A player with the 3♦ (card 0) in hand opens the game and plays it.
    """
    opens = hand & 1 != 0
    if kind != NO_KIND:
        return _first_of_size(hand, int(KIND_SIZES[kind]), kind, key, opens)
    for size in range(5, 0, -1):
        play = _first_of_size(hand, size, kind, key, opens)
        if play[0] != 0:
            return play
    return 0, NO_KIND, -1


@kernel
def _first_of_size(hand: int, size: int, kind: int, key: int, opens: bool) -> Play:
    if size == 5:
        return _first_five(hand, kind, key, opens)
    last_rank = 0 if opens else 12
    if size == 4:
        return _first_four(hand, kind, key, last_rank)
    if size == 1:
        cards = hand >> (key + 1) << (key + 1)
        cards &= -cards
    else:
        cards = _first_group(hand, size, 0, key, last_rank)
    if cards == 0:
        return 0, NO_KIND, -1
    return cards, size - 1 + SINGLE, highest_bit(cards)


@kernel
def _first_group(hand: int, size: int, first_rank: int, key: int, last_rank: int) -> int:
    """The first pair (`size` 2) or three from `first_rank` to `last_rank` whose highest card is above `key`."""
    for rank in range(max(first_rank, key >> 2), last_rank + 1):
        bits = hand >> 4 * rank & 15
        least = max(key + 1 - 4 * rank, 0)
        group = int(_FIRST_PAIRS[bits, least]) if size == 2 else int(_FIRST_THREES[bits, least])
        if group != 0:
            return group << 4 * rank
    return 0


@kernel
def _first_four(hand: int, kind: int, key: int, last_rank: int) -> Play:
    for rank in range(last_rank + 1):
        bits = hand >> 4 * rank & 15
        if bits == 15 and (kind != FOUR or 4 * rank + 3 > key):
            return 15 << 4 * rank, FOUR, 4 * rank + 3
        lower = int(_FIRST_PAIRS[bits, 0])
        if lower != 0 and kind != FOUR:
            higher = _first_group(hand, 2, rank + 1, key, 12)
            if higher != 0:
                return lower << 4 * rank | higher, TWO_PAIR, highest_bit(higher)
    return 0, NO_KIND, -1


@kernel
def _first_five(hand: int, kind: int, key: int, opens: bool) -> Play:
    """The first hand of five cards, searched by the rank of its lowest card."""
    flushes = 0
    for suit in range(4):
        suited = hand & (DIAMONDS << suit)
        if count_bits(suited) >= 5:
            flushes |= suited
    for rank in range(1 if opens else 13):
        bits = hand >> 4 * rank & 15
        if bits == 0:
            continue
        cards = _first_straight(hand, rank, key) if kind in (NO_KIND, STRAIGHT) else 0
        house = _first_house(hand, rank, key if kind == FULL_HOUSE else -1) if kind != STRAIGHT_FLUSH else 0
        cards = _first_set(cards, house)
        starts = flushes & (1 if opens else 15 << 4 * rank)
        if starts != 0:
            cards = _first_set(cards, _first_flush_of_rank(hand, starts, kind, key))
        if cards != 0:
            return _classify_five(cards)
    return 0, NO_KIND, -1


@kernel
def _first_set(one: int, other: int) -> int:
    """The lexicographically first of two sets of one size, 0 for a missing set."""
    if one == 0 or other == 0:
        return one | other
    differ = one ^ other
    return one if one & differ & -differ else other


@kernel
def _first_straight(hand: int, rank: int, key: int) -> int:
    """The first straight with lowest rank `rank` and highest card above `key`."""
    if rank > 8:
        return 0
    cards = 0
    for step in range(5):
        bits = hand >> 4 * (rank + step) & 15
        if step == 4:
            too_low = min(max(key + 1 - 4 * (rank + 4), 0), 4)
            bits = bits >> too_low << too_low
        if bits == 0:
            return 0
        cards |= (bits & -bits) << 4 * (rank + step)
    return cards


@kernel
def _first_house(hand: int, rank: int, key: int) -> int:
    """The first full house with lowest rank `rank` whose three has its highest card above `key`."""
    bits = hand >> 4 * rank & 15
    pair = int(_FIRST_PAIRS[bits, 0]) << 4 * rank
    if pair == 0:
        return 0
    above = _first_group(hand, 3, rank + 1, key, 12)
    with_pair = pair | above if above != 0 else 0
    three = _first_group(hand, 3, rank, key, rank)
    if three == 0:
        return with_pair
    above = _first_group(hand, 2, rank + 1, -1, 12)
    return _first_set(with_pair, three | above if above != 0 else 0)


@kernel
def _first_flush_of_rank(hand: int, starts: int, kind: int, key: int) -> int:
    """The first flush (or straight flush) whose lowest card is one of `starts`, which are of one rank."""
    while starts != 0:
        first = lowest_bit(starts)
        starts &= starts - 1
        suited = hand & (DIAMONDS << (first & 3))
        cards = _first_flush(suited >> first << first, kind, key)
        if cards != 0:
            return cards
    return 0


@kernel
def _first_flush(suited: int, kind: int, key: int) -> int:
    """The first five of the one-suit cards `suited` that include its lowest and beat `kind` and `key`."""
    rest = suited
    for _ in range(4):
        rest &= rest - 1
    if rest == 0:
        return 0
    four = suited ^ rest
    last = lowest_bit(rest)
    if (last >> 2) - (lowest_bit(suited) >> 2) == 4:
        return four | 1 << last if kind != STRAIGHT_FLUSH or last > key else 0
    if kind in (FULL_HOUSE, STRAIGHT_FLUSH):
        return 0
    if kind == FLUSH:
        rest = rest >> (key + 1) << (key + 1)
    return four | rest & -rest if rest != 0 else 0


@kernel
def _classify_five(cards: int) -> Play:
    """Five cards with their kind and deciding card."""
    low = lowest_bit(cards)
    high = highest_bit(cards)
    suited = cards & (DIAMONDS << (low & 3)) == cards
    for rank in range(low >> 2, (high >> 2) + 1):
        bits = cards >> 4 * rank & 15
        if count_bits(bits) == 3:
            return cards, FULL_HOUSE, 4 * rank + highest_bit(bits)
    if suited:
        return cards, STRAIGHT_FLUSH if (high >> 2) - (low >> 2) == 4 else FLUSH, high
    return cards, STRAIGHT, high


@checked_function(Big2)
def play_out(
    states: States,
    rng: np.random.Generator,  # noqa: ARG001  one signature for all games
    options: Mapping[str, Any] | None = None,
) -> Floats:
    """[G, 4] payoffs of greedy play from `states`, which are not changed.

    `options` are `GameSpec.options`; the default game's if None. Greedy play uses no random numbers.
    """
    options = options or {}
    ended = copied(states)
    play_out_greedily(ended, options.get("straight_flush") == "unbeatable")
    return payoffs(ended, options.get("penalty") == "doubled")


@kernel
def play_out_greedily(states: States, unbeatable: bool) -> None:
    """Set the final counts and phase of greedy play in `states` [G]; `place` is not updated."""
    hands = np.empty(4, dtype=np.int64)
    for g in range(states.shape[0]):
        state = states[g]
        if state["phase"] != PLAYING:
            continue
        for seat in range(4):
            hands[seat] = hand_bits(state["place"], seat)
        player = (int(state["opener"]) + int(state["moves"])) % 4
        _play_greedily(hands, player, int(state["kind"]), int(state["key"]), int(state["passes"]), unbeatable)
        for seat in range(4):
            state["counts"][seat] = count_bits(hands[seat])
        state["phase"] = OVER


@kernel
def _play_greedily(hands: NDArray[np.int64], player: int, kind: int, key: int, passes: int, unbeatable: bool) -> None:
    """Play `hands` [4] in place until one is empty."""
    while True:
        if unbeatable and kind == STRAIGHT_FLUSH:
            cards, new_kind, new_key = 0, NO_KIND, -1
        else:
            cards, new_kind, new_key = greedy_play(int(hands[player]), kind, key)
        if cards != 0:
            hands[player] ^= cards
            if hands[player] == 0:
                return
            kind, key, passes = new_kind, new_key, 0
        else:
            passes += 1
            if passes == 3:
                kind, key, passes = NO_KIND, -1, 0
        player = (player + 1) % 4
