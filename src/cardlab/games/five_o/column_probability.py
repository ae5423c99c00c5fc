"""Winning probabilities of columns, simulated or over all completions, and of the game by equation (3).

As in the paper, a tied column counts as won, and columns are taken as independent. The column that takes the card
counts with it, the others without (sections II.B.4 and II.B.5).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import Cards, draw_below, hash_seed
from cardlab.games.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength, hand_size
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, Record, Records, list_unseen
from cardlab.games.protocol import Players

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

WITHOUT_CARD, WITH_CARD = 0, 1  # column without, and with, the card to place
_MAX_COMPLETIONS = 6000  # of a column that lacks three cards, with 34 unseen


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
def game_win_probabilities(probabilities: Values, sizes: NDArray[np.int8]) -> Values:
    """[5] probability of winning the game by column for the card, from those [2, 5] of the columns; -1 if full."""
    scores = np.full(NUM_COLUMNS, -1.0)
    mixed = probabilities[WITHOUT_CARD].copy()
    for column in range(NUM_COLUMNS):
        if sizes[column] < COLUMN_SIZE:
            mixed[column] = probabilities[WITH_CARD, column]
            scores[column] = game_win_probability(mixed)
            mixed[column] = probabilities[WITHOUT_CARD, column]
    return scores


@kernel
def simulate_columns(table: Strengths, state: Record, player: int, num_simulations: int, seed: np.uint64) -> Values:
    """[2, 5] share of simulations in which each column beats the opposite one: WITHOUT_CARD, and WITH_CARD (0 if full).

    Each simulation completes all columns of both players from one shuffle of the unseen cards. A column that takes the
    card to place draws one card less.
    """
    probabilities = np.zeros((2, NUM_COLUMNS))
    cards = np.empty(52, dtype=np.int8)
    count = list_unseen(state, cards)
    card_key = CARD_KEYS[state["deck"][state["turn"]]]
    for simulation in range(num_simulations):
        stream = hash_seed(seed, np.uint64(simulation))
        drawn = 0
        for column in range(NUM_COLUMNS):
            own, other = state["keys"][player, column], state["keys"][1 - player, column]
            own_missing, other_missing = COLUMN_SIZE - hand_size(own), COLUMN_SIZE - hand_size(other)
            put = own + card_key
            for place in range(own_missing + other_missing):
                chosen = drawn + draw_below(count - drawn, stream, drawn)
                card = cards[chosen]
                cards[chosen] = cards[drawn]
                cards[drawn] = card
                drawn += 1
                if place < own_missing:
                    own += CARD_KEYS[card]
                    put += CARD_KEYS[card] if place else 0
                else:
                    other += CARD_KEYS[card]
            opposite = five_card_strength(table, other)
            probabilities[WITHOUT_CARD, column] += five_card_strength(table, own) >= opposite
            if own_missing:
                probabilities[WITH_CARD, column] += five_card_strength(table, put) >= opposite
    return probabilities / num_simulations


@kernel
def simulated_win_probabilities(
    table: Strengths, states: Records, players: Players, num_simulations: int, seeds: NDArray[np.uint64]
) -> Values:
    """[N, 5] simulated probability of winning the game by column for the card to place; -1 if full."""
    scores = np.empty((states.shape[0], NUM_COLUMNS))
    for n in range(states.shape[0]):
        probabilities = simulate_columns(table, states[n], players[n], num_simulations, seeds[n])
        scores[n] = game_win_probabilities(probabilities, states[n]["sizes"][players[n]])
    return scores


@kernel
def exact_win_probabilities(table: Strengths, states: Records, players: Players) -> Values:
    """[N, 5] probability of winning the game by column for the card to place; -1 if full. Needs round 3 or later."""
    scores = np.empty((states.shape[0], NUM_COLUMNS))
    for n in range(states.shape[0]):
        probabilities = enumerate_columns(table, states[n], players[n])
        scores[n] = game_win_probabilities(probabilities, states[n]["sizes"][players[n]])
    return scores


@kernel
def enumerate_columns(table: Strengths, state: Record, player: int) -> Values:
    """[2, 5] limit of `simulate_columns` by enumeration of all completions; needs round 3 or later."""
    probabilities = np.zeros((2, NUM_COLUMNS))
    cards = np.empty(52, dtype=np.int8)
    count = list_unseen(state, cards)
    opposite, own = np.empty(_MAX_COMPLETIONS, dtype=np.int64), np.empty(_MAX_COMPLETIONS, dtype=np.int64)
    opposite_cards, own_cards = np.empty_like(opposite), np.empty_like(own)
    for column in range(NUM_COLUMNS):
        key = state["keys"][1 - player, column]
        num_opposite = enumerate_completions(table, key, cards, count, opposite, opposite_cards)
        for case in range(2):
            key = state["keys"][player, column] + (CARD_KEYS[state["deck"][state["turn"]]] if case == WITH_CARD else 0)
            if hand_size(key) > COLUMN_SIZE:
                continue
            num_own = enumerate_completions(table, key, cards, count, own, own_cards)
            won, lost, cases = compare_completions(own[:num_own], own_cards, opposite[:num_opposite], opposite_cards)
            probabilities[case, column] = won / cases + (cases - won - lost) / cases
    return probabilities


@kernel
def enumerate_completions(
    table: Strengths, key: Int, cards: Cards, count: int, strengths: Numbers, masks: Numbers
) -> int:
    """List the `strengths` and added cards (`masks`, bits of 0:count) of all completions of a hand; return the count.

    At most three cards may be missing.
    """
    missing = COLUMN_SIZE - hand_size(key)
    found = 0
    for first in range(count if missing > 0 else 1):
        for second in range(first + 1, count if missing > 1 else first + 2):
            for third in range(second + 1, count if missing > 2 else second + 2):
                total: Any = np.int64(key)
                mask = np.int64(0)
                if missing > 0:
                    total += CARD_KEYS[cards[first]]
                    mask |= np.int64(1) << first
                if missing > 1:
                    total += CARD_KEYS[cards[second]]
                    mask |= np.int64(1) << second
                if missing > 2:
                    total += CARD_KEYS[cards[third]]
                    mask |= np.int64(1) << third
                strengths[found] = five_card_strength(table, total)
                masks[found] = mask
                found += 1
    return found


@kernel
def compare_completions(own: Numbers, own_cards: Numbers, other: Numbers, other_cards: Numbers) -> tuple[int, int, int]:
    """Pairs of completions, without a common card, that `own` wins, that it loses, and all."""
    won = lost = cases = 0
    for first in range(own.size):
        for second in range(other.size):
            possible = own_cards[first] & other_cards[second] == 0
            won += possible & (own[first] > other[second])
            lost += possible & (own[first] < other[second])
            cases += possible
    return won, lost, cases
