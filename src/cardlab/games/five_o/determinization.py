"""Full states sampled from the information of a player."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import Cards, hash_seed, shuffle
from cardlab.games.cards.hands import CARD_KEYS, Strengths
from cardlab.games.five_o.rules import (
    NUM_COLUMNS,
    NUM_PLAYERS,
    NUM_TURNS,
    UNRESOLVED,
    Record,
    Records,
    list_unseen,
    mover,
    resolve_game,
)

_FIRST_SALT = 64  # the shuffle uses salts below 52


@kernel
def fill_unknown(table: Strengths, state: Record, order: Cards, count: int, hidden_round: int) -> None:
    """Assign order[count - 1], order[count - 2], … to the unknown cards: face-down cards first, then the deck."""
    slot = hidden_round - 1
    for player in range(NUM_PLAYERS):
        for column in range(NUM_COLUMNS):
            if state["sizes"][player, column] > slot and state["columns"][player, column, slot] < 0:
                count -= 1
                state["columns"][player, column, slot] = order[count]
                state["keys"][player, column] += CARD_KEYS[order[count]]
    for turn in range(state["turn"], NUM_TURNS):
        if state["deck"][turn] < 0:
            count -= 1
            state["deck"][turn] = order[count]
    state["owner"] = -1
    if state["phase"] == UNRESOLVED:
        resolve_game(table, state)


@kernel
def fill_uniformly(table: Strengths, states: Records, seeds: NDArray[np.uint64], hidden_round: int) -> None:
    """Draw every unknown card uniformly from the unseen cards, seeded by seeds[g]."""
    unseen = np.empty(52, dtype=np.int8)
    for g in range(states.shape[0]):
        count = list_unseen(states[g], unseen)
        shuffle(unseen, count, seeds[g])
        fill_unknown(table, states[g], unseen, count, hidden_round)


@kernel
def count_held(state: Record, player: int, hidden_round: int) -> int:
    """Number of unknown cards of `player`: face down in the columns, or drawn and not yet placed."""
    slot = hidden_round - 1
    held = 1 if mover(state, hidden_round) == player and state["deck"][state["turn"]] < 0 else 0
    for column in range(NUM_COLUMNS):
        if state["sizes"][player, column] > slot and state["columns"][player, column, slot] < 0:
            held += 1
    return held


@kernel
def draw_to_end(cards: Cards, count: int, held: int, weights: NDArray[np.float32], seed: np.uint64) -> None:
    """Move `held` of cards[0:count] to its end, last first, drawn without replacement by weights[card].

    The draw is uniform when all remaining weights are 0.
    """
    for drawn in range(held):
        left = count - drawn
        total = 0.0
        for index in range(left):
            total += max(weights[cards[index]], 0.0)
        if total <= 0.0:
            return
        point = total * (float(hash_seed(seed, np.uint64(_FIRST_SALT + drawn)) >> np.uint64(11)) / 2.0**53)
        chosen = left - 1
        for index in range(left):
            weight = max(weights[cards[index]], 0.0)
            if weight > 0.0:
                chosen = index
                if point < weight:
                    break
                point -= weight
        kept = cards[chosen]
        cards[chosen] = cards[left - 1]
        cards[left - 1] = kept


@kernel
def fill_by_weights(
    table: Strengths,
    states: Records,
    players: NDArray[np.int8],
    weights: NDArray[np.float32],
    seeds: NDArray[np.uint64],
    hidden_round: int,
) -> None:
    """Draw the opponent's unknown cards in proportion to weights[g, opponent] and the rest uniformly, by seeds[g]."""
    unseen = np.empty(52, dtype=np.int8)
    for g in range(states.shape[0]):
        opponent = 1 - players[g]
        count = list_unseen(states[g], unseen)
        shuffle(unseen, count, seeds[g])
        held = count_held(states[g], opponent, hidden_round)
        draw_to_end(unseen, count, held, weights[g, opponent], seeds[g])
        fill_unknown(table, states[g], unseen, count, hidden_round)
