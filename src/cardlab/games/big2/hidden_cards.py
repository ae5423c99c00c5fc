"""Hiding the opponents' cards, and sampling them by the number of cards of each player: uniform, or by weights."""

from typing import cast

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.big2.actions import DECK_CARD, LOWEST_CARD
from cardlab.games.big2.rules import HIDDEN, PLAYED, PLAYING, UNRESOLVED, apply, deal, history, list_legal_actions
from cardlab.games.cards.deck import hash_seed, shuffle
from cardlab.games.legality import Legality
from cardlab.games.protocol import AnyStates, Bools, Floats, InfoStates, Players, States
from cardlab.games.record_arrays import as_bytes, copied, put, take


@kernel
def hide(states: AnyStates, players: Players) -> None:
    """Blank the opponents' cards of `players` [G] in place, except the 3♦, whose holder is known as the opener."""
    for g in range(states.shape[0]):
        place = states[g]["place"]
        player = players[g]
        for card in range(LOWEST_CARD + 1, 52):  # without branches: compiled to vector instructions
            own_or_played = place[card] == player or place[card] > HIDDEN
            place[card] = place[card] if own_or_played else HIDDEN


@kernel
def deal_unseen(info_states: InfoStates, seeds: NDArray[np.uint64]) -> None:
    """Deal the hidden cards of each row to the hands that lack cards, uniformly, as a function of `seeds` [G]."""
    unseen = np.empty(53, dtype=np.int8)
    missing = np.empty(4, dtype=np.int64)
    for g in range(info_states.shape[0]):
        place = info_states[g]["place"]
        count = _find_unseen(place, info_states[g]["counts"], unseen, missing)
        shuffle(unseen, count, seeds[g])
        _deal_in_order(place, unseen, missing)


def are_valid(states: AnyStates, forced_opening: bool, unbeatable: bool) -> Bools:
    """[G] whether each record can occur: whether moves lead to it from a deal, with any hands that it allows."""
    place, openers, moves = states["place"].astype(np.int64), states["opener"], states["moves"].astype(np.int64)
    turn = place - PLAYED
    holder = np.where(turn >= 0, (openers[:, None] + turn) % 4, place)
    held = (place[:, None] == np.arange(4)[:, None]).sum(axis=2)
    played = ((holder[:, None] == np.arange(4)[:, None]) & (turn >= 0)[:, None]).sum(axis=2)
    valid = (openers >= 0) & (openers < 4) & (turn < moves[:, None]).all(axis=1)
    valid &= ((states["counts"] + played == 13) & (held <= states["counts"])).all(axis=1)
    valid &= holder[:, LOWEST_CARD] == openers
    whole = cast(States, take(states, valid))
    whole["phase"] = np.where(whole["phase"] == UNRESOLVED, PLAYING, whole["phase"])
    deal_unseen(cast(InfoStates, whole), np.zeros(len(whole), dtype=np.uint64))
    decks, actions = history(whole, forced_opening)
    again, legal = copied(whole), np.ones(len(whole), dtype=np.bool_)
    deal(again, decks, forced_opening)
    for move, now in enumerate(actions.T):
        made = move + int(forced_opening) < whole["moves"]
        legal &= ~made | Legality(*list_legal_actions(again, unbeatable)).are_legal(now)
        part = take(again, made & legal)
        apply(part, now[made & legal])
        put(again, made & legal, part)
    valid[valid] = legal & (as_bytes(again) == as_bytes(whole))
    return valid


@kernel
def deal_by_weights(info_states: InfoStates, weights: Floats, seeds: NDArray[np.uint64]) -> None:
    """Deal the hidden cards of each row, with the probability of a deal proportional to its product of weights.

    `weights` [G, 4, 52], at least 0, are those of each player holding each card of the deck. Sampling is exact: the
    cards are drawn one by one from the totals of `_sum_deals`. Deals are uniform in rows where all have weight 0.
    """
    unseen = np.empty(53, dtype=np.int8)
    missing, others = np.empty(4, dtype=np.int64), np.empty(3, dtype=np.int64)
    shares, totals = np.empty((52, 3)), np.empty((53, 14, 14))
    for g in range(info_states.shape[0]):
        place = info_states[g]["place"]
        count = _find_unseen(place, info_states[g]["counts"], unseen, missing)
        if count == 0:
            continue
        if _sum_deals(weights[g], unseen, count, missing, others, shares, totals) > 0:
            _draw(place, unseen, count, others, shares, totals, missing, seeds[g])
        else:
            shuffle(unseen, count, seeds[g])
            _deal_in_order(place, unseen, missing)


@kernel
def deal_log_likelihoods(states: States, info_states: InfoStates, weights: Floats) -> Floats:
    """[G] log-probability, in nats, that `deal_by_weights` of `info_states` [G] gives `states` [G], or -inf."""
    logs = np.zeros(states.shape[0], dtype=np.float32)
    unseen = np.empty(53, dtype=np.int8)
    missing, others = np.empty(4, dtype=np.int64), np.empty(3, dtype=np.int64)
    shares, totals = np.empty((52, 3)), np.empty((53, 14, 14))
    for g in range(states.shape[0]):
        count = _find_unseen(info_states[g]["place"], info_states[g]["counts"], unseen, missing)
        log = -np.log(_sum_deals(weights[g], unseen, count, missing, others, shares, totals))
        for index in range(count):
            for hand in range(3):
                if states[g]["place"][unseen[index]] == others[hand]:
                    log += np.log(shares[index, hand])
        logs[g] = log
    return logs


@kernel
def _find_unseen(
    place: NDArray[np.uint8], counts: NDArray[np.int8], unseen: NDArray[np.int8], missing: NDArray[np.int64]
) -> int:
    """Write the hidden cards to `unseen`, and the cards that each hand lacks to `missing` [4]; return the count."""
    for player in range(4):
        missing[player] = counts[player]
    count = 0
    for card in range(52):
        unseen[count] = card
        count += place[card] == HIDDEN
        if place[card] < HIDDEN:
            missing[place[card]] -= 1
    return count


@kernel
def _deal_in_order(place: NDArray[np.uint8], unseen: NDArray[np.int8], missing: NDArray[np.int64]) -> None:
    index = 0
    for player in range(4):
        for _ in range(missing[player]):
            place[unseen[index]] = player
            index += 1


@kernel
def _sum_deals(
    weights: Floats,
    unseen: NDArray[np.int8],
    count: int,
    missing: NDArray[np.int64],
    others: NDArray[np.int64],
    shares: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> float:
    """Weight of all deals of unseen[0:count]; fill `others`, `shares` and `totals`.

    `others` [3] are the players that lack the most cards; the fourth lacks none. `shares` [52, 3] are their weights of
    each unseen card, over the largest, so that products stay in range. `totals` [53, 14, 14], at [i, a, b], is the
    weight of all deals of the cards from i on when the first two others still lack a and b cards.
    """
    owner = int(missing.argmin())
    for hand in range(3):
        others[hand] = hand + (hand >= owner)
    for index in range(count):
        card = DECK_CARD[unseen[index]]
        largest = 0.0
        for hand in range(3):
            shares[index, hand] = weights[others[hand], card]
            largest = max(largest, shares[index, hand])
        if largest > 0:
            for hand in range(3):
                shares[index, hand] /= largest
    first, second = int(missing[others[0]]), int(missing[others[1]])
    totals[count, : first + 1, : second + 1] = 0.0
    totals[count, 0, 0] = 1.0
    for index in range(count - 1, -1, -1):
        cards = count - index
        for a in range(first + 1):
            for b in range(second + 1):
                total = 0.0
                if a > 0:
                    total += shares[index, 0] * totals[index + 1, a - 1, b]
                if b > 0:
                    total += shares[index, 1] * totals[index + 1, a, b - 1]
                if a + b < cards:
                    total += shares[index, 2] * totals[index + 1, a, b]
                totals[index, a, b] = total if a + b <= cards else 0.0
    return totals[0, first, second]


@kernel
def _draw(
    place: NDArray[np.uint8],
    unseen: NDArray[np.int8],
    count: int,
    others: NDArray[np.int64],
    shares: NDArray[np.float64],
    totals: NDArray[np.float64],
    missing: NDArray[np.int64],
    seed: np.uint64,
) -> None:
    a = missing[others[0]]
    b = missing[others[1]]
    for index in range(count):
        to_first = shares[index, 0] * totals[index + 1, a - 1, b] if a > 0 else 0.0
        to_second = shares[index, 1] * totals[index + 1, a, b - 1] if b > 0 else 0.0
        uniform = np.float64(hash_seed(seed, np.uint64(index)) >> np.uint64(32)) * 2.0**-32
        point = uniform * totals[index, a, b]
        if point < to_first:
            place[unseen[index]] = others[0]
            a -= 1
        elif point < to_first + to_second:
            place[unseen[index]] = others[1]
            b -= 1
        else:
            place[unseen[index]] = others[2]
