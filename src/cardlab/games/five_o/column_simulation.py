"""Winning probabilities of columns in the paper's Monte Carlo agent: simulated, and enumerated for comparison."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import Cards, draw_below, hash_seed
from cardlab.games.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength, hand_size
from cardlab.games.five_o.column_probability import Values, game_win_probability
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, Record, Records, list_unseen
from cardlab.games.protocol import Players

WITHOUT_CARD, WITH_CARD = 0, 1  # column without, and with, the card to place
_MAX_COMPLETIONS = 6000  # of a column that lacks three cards, with 34 unseen


@kernel
def simulate_columns(
    table: Strengths, state: Record, player: int, num_simulations: int, seed: np.uint64, tie_share: float
) -> Values:
    """[2, 5] share of simulations in which each column beats the opposite one: WITHOUT_CARD, and WITH_CARD (0 if full).

    Each simulation completes all columns of both players from one shuffle of the unseen cards. A column that takes the
    card to place draws one card less. A tied column counts `tie_share`.
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
            probabilities[WITHOUT_CARD, column] += comparison_score(five_card_strength(table, own), opposite, tie_share)
            if own_missing:
                probabilities[WITH_CARD, column] += comparison_score(
                    five_card_strength(table, put), opposite, tie_share
                )
    return probabilities / num_simulations


@kernel
def comparison_score(own: Int, opposite: Int, tie_share: float) -> float:
    """1 for the stronger hand, `tie_share` for an equal one, else 0."""
    if own == opposite:
        return tie_share
    return 1.0 if own > opposite else 0.0


@kernel
def game_win_probabilities(probabilities: Values, sizes: NDArray[np.int8], full: int) -> Values:
    """[5] probability of winning by column for the card, by equation (3); -1 for columns with `full` cards.

    The chosen column counts its WITH_CARD probability, the others WITHOUT_CARD (section II.B.4).
    """
    scores = np.full(NUM_COLUMNS, -1.0)
    mixed = probabilities[WITHOUT_CARD].copy()
    for column in range(NUM_COLUMNS):
        if sizes[column] < full:
            mixed[column] = probabilities[WITH_CARD, column]
            scores[column] = game_win_probability(mixed)
            mixed[column] = probabilities[WITHOUT_CARD, column]
    return scores


@kernel
def simulated_win_probabilities(
    table: Strengths,
    states: Records,
    players: Players,
    num_simulations: int,
    seeds: NDArray[np.uint64],
    tie_share: float,
) -> Values:
    """[N, 5] simulated probability of winning the game by column for the card to place."""
    scores = np.empty((states.shape[0], NUM_COLUMNS))
    for n in range(states.shape[0]):
        probabilities = simulate_columns(table, states[n], players[n], num_simulations, seeds[n], tie_share)
        scores[n] = game_win_probabilities(probabilities, states[n]["sizes"][players[n]], COLUMN_SIZE)
    return scores


@kernel
def enumerate_columns(table: Strengths, state: Record, player: int, tie_share: float) -> Values:
    """[2, 5] limit of `simulate_columns` by enumeration of all completions; needs round 3 or later."""
    probabilities = np.zeros((2, NUM_COLUMNS))
    cards = np.empty(52, dtype=np.int8)
    count = list_unseen(state, cards)
    opposite, own = np.empty(_MAX_COMPLETIONS, dtype=np.int64), np.empty(_MAX_COMPLETIONS, dtype=np.int64)
    opposite_cards, own_cards = opposite.copy(), own.copy()
    for column in range(NUM_COLUMNS):
        num_opposite = enumerate_completions(
            table, state["keys"][1 - player, column], cards, count, opposite, opposite_cards
        )
        for case in range(2):
            key = state["keys"][player, column] + (CARD_KEYS[state["deck"][state["turn"]]] if case == WITH_CARD else 0)
            if hand_size(key) > COLUMN_SIZE:
                continue
            num_own = enumerate_completions(table, key, cards, count, own, own_cards)
            won = cases = 0.0
            for first in range(num_own):
                for second in range(num_opposite):
                    if not own_cards[first] & opposite_cards[second]:
                        won += comparison_score(own[first], opposite[second], tie_share)
                        cases += 1.0
            probabilities[case, column] = won / cases
    return probabilities


@kernel
def enumerate_completions(
    table: Strengths,
    key: Int,
    cards: Cards,
    count: int,
    strengths: NDArray[np.int64],
    masks: NDArray[np.int64],
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
