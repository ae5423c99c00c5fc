"""Hiding the deck and the opponent's cards of the hidden round, and sampling them."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import shuffle
from cardlab.games.cards.hands import CARD_KEYS, Strengths
from cardlab.games.five_o.rules import (
    NUM_COLUMNS,
    NUM_PLAYERS,
    NUM_TURNS,
    PLAYING,
    UNRESOLVED,
    Records,
    list_unseen,
    resolve_game,
    round_of,
)


@kernel
def hide(states: Records, players: NDArray[np.int8], hidden_round: int) -> None:
    """Hide the deck from players[g], and until the end the opponent's cards of the hidden round."""
    for g in range(states.shape[0]):
        state = states[g]
        state["owner"] = players[g]
        if state["phase"] != PLAYING:
            continue
        opponent = 1 - players[g]
        turn = state["turn"]
        unseen = turn if round_of(turn) == hidden_round and turn & 1 == opponent else turn + 1
        for index in range(unseen, NUM_TURNS):
            state["deck"][index] = -1
        for column in range(NUM_COLUMNS):
            card = state["columns"][opponent, column, hidden_round - 1]
            if card >= 0:
                state["keys"][opponent, column] -= CARD_KEYS[card]
                state["columns"][opponent, column, hidden_round - 1] = -1


@kernel
def fill(table: Strengths, states: Records, seeds: NDArray[np.uint64], hidden_round: int) -> None:
    """Draw every unknown card uniformly from the unseen cards, by seeds[g]: face-down cards first, then the deck."""
    cards = np.empty(52, dtype=np.int8)
    slot = hidden_round - 1
    for g in range(states.shape[0]):
        state = states[g]
        count = list_unseen(state, cards)
        shuffle(cards, count, seeds[g])
        for player in range(NUM_PLAYERS):
            for column in range(NUM_COLUMNS):
                if state["sizes"][player, column] > slot and state["columns"][player, column, slot] < 0:
                    count -= 1
                    state["columns"][player, column, slot] = cards[count]
                    state["keys"][player, column] += CARD_KEYS[cards[count]]
        for turn in range(state["turn"], NUM_TURNS):
            if state["deck"][turn] < 0:
                count -= 1
                state["deck"][turn] = cards[count]
        state["owner"] = -1
        if state["phase"] == UNRESOLVED:
            resolve_game(table, state)
