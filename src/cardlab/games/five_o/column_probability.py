"""Exact winning probabilities of columns with few missing cards, and of the game by equation (3)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import Cards
from cardlab.games.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength, hand_size
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, Records, list_unseen
from cardlab.games.protocol import Players

Values = NDArray[np.float64]


@kernel
def game_win_probability(probabilities: Values) -> float:
    """Probability of winning at least three columns, given independent `probabilities` [5]: equation (3)."""
    none, one, two, more = 1.0, 0.0, 0.0, 0.0  # columns won
    for probability in probabilities:
        more += two * probability  # summed directly: 1 - rest could round below 0
        two = two * (1 - probability) + one * probability
        one = one * (1 - probability) + none * probability
        none *= 1 - probability
    return more


@kernel
def column_probabilities(
    table: Strengths, own_key: Int, other_key: Int, cards: Cards, count: int
) -> tuple[float, float]:
    """Probabilities that a column beats, and ties, the opposite one, over all completions from cards[0:count].

    At most one card of the own column may be missing, and two of the other.
    """
    own_missing = COLUMN_SIZE - hand_size(own_key)
    other_missing = COLUMN_SIZE - hand_size(other_key)
    own = np.empty(max(count, 1), dtype=np.int64)
    num_own = count if own_missing else 1
    for index in range(num_own):
        added: Any = CARD_KEYS[cards[index]] if own_missing else 0
        own[index] = five_card_strength(table, own_key + added)
    wins = ties = cases = 0
    for first in range(count if other_missing else 1):
        for second in range(first + 1 if other_missing > 1 else 0, count if other_missing > 1 else 1):
            key: Any = other_key + (CARD_KEYS[cards[first]] if other_missing else 0)
            key += CARD_KEYS[cards[second]] if other_missing > 1 else 0
            other = five_card_strength(table, key)
            for index in range(num_own):
                if own_missing and ((other_missing and index == first) or (other_missing > 1 and index == second)):
                    continue
                wins += own[index] > other
                ties += own[index] == other
                cases += 1
    return wins / cases, ties / cases


@kernel
def last_round_win_probabilities(table: Strengths, states: Records, players: Players, tie_share: float) -> Values:
    """[N, 5] probability of winning the game by column for the card to place; -1 where the column is full.

    The chosen column counts with the card, the others without, as in the paper, section II.B.5. A tied column counts
    `tie_share` of a won one.
    """
    scores = np.full((states.shape[0], NUM_COLUMNS), -1.0)
    cards = np.empty(52, dtype=np.int8)
    probabilities = np.empty(NUM_COLUMNS)
    for g in range(states.shape[0]):
        state = states[g]
        player = players[g]
        count = list_unseen(state, cards)
        for column in range(NUM_COLUMNS):
            won, tied = column_probabilities(
                table, state["keys"][player, column], state["keys"][1 - player, column], cards, count
            )
            probabilities[column] = won + tie_share * tied
        card = state["deck"][state["turn"]]
        for column in range(NUM_COLUMNS):
            if state["sizes"][player, column] == COLUMN_SIZE:
                continue
            before = probabilities[column]
            key = state["keys"][player, column] + CARD_KEYS[card]
            won, tied = column_probabilities(table, key, state["keys"][1 - player, column], cards, count)
            probabilities[column] = won + tie_share * tied
            scores[g, column] = game_win_probability(probabilities)
            probabilities[column] = before
    return scores
