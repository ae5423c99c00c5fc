"""Chances of winning: a column, exactly where few cards are missing, and the game, by equation (3)."""

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
def win_chance(chances: Values) -> float:
    """Chance of at least three columns, by their chances [5], taken as independent: equation (3)."""
    none, one, two, more = 1.0, 0.0, 0.0, 0.0  # columns won
    for chance in chances:
        more += two * chance  # added up, not what the others leave: a lost game is worth 0, and no rounding below it
        two = two * (1 - chance) + one * chance
        one = one * (1 - chance) + none * chance
        none *= 1 - chance
    return more


@kernel
def column_chances(table: Strengths, own_key: Int, other_key: Int, cards: Cards, count: int) -> tuple[float, float]:
    """Chances that a column beats, and that it ties, the one opposite, over all that cards[0:count] make of them.

    At most one card of one's own may be missing, and two of the other's.
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
def last_round_scores(table: Strengths, states: Records, players: Players, tie_share: float) -> Values:
    """[N, 5] chance of winning the game by each column for the card to place; -1 where it cannot go.

    The column that takes the card counts with it, the others as they stand, as in the seed, section II.B.5; a tied
    column counts `tie_share` of a won one.
    """
    scores = np.full((states.shape[0], NUM_COLUMNS), -1.0)
    cards = np.empty(52, dtype=np.int8)
    chances = np.empty(NUM_COLUMNS)
    for g in range(states.shape[0]):
        state = states[g]
        player = players[g]
        count = list_unseen(state, cards)
        for column in range(NUM_COLUMNS):
            won, tied = column_chances(
                table, state["keys"][player, column], state["keys"][1 - player, column], cards, count
            )
            chances[column] = won + tie_share * tied
        card = state["deck"][state["turn"]]
        for column in range(NUM_COLUMNS):
            if state["sizes"][player, column] == COLUMN_SIZE:
                continue
            before = chances[column]
            key = state["keys"][player, column] + CARD_KEYS[card]
            won, tied = column_chances(table, key, state["keys"][1 - player, column], cards, count)
            chances[column] = won + tie_share * tied
            scores[g, column] = win_chance(chances)
            chances[column] = before
    return scores
