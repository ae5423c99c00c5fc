"""Chances of the columns as the seed's Monte Carlo agent sees them: simulated, and counted out for comparison."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import Cards, draw_below, mix
from cardlab.games.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength, hand_size
from cardlab.games.five_o.chances import Values, win_chance
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, Record, Records, list_unseen
from cardlab.games.protocol import Players

WAIT, PUT = 0, 1  # chances of a column as it stands, and with the card to place in it
_MAX_COMPLETIONS = 6000  # of one column that lacks three of 34 cards


@kernel
def simulate_columns(
    table: Strengths, state: Record, player: int, num_simulations: int, seed: np.uint64, tie_share: float
) -> Values:
    """[2, 5] shares of simulations in which each column beats the one opposite: WAIT, and PUT (0 where it is full).

    In a simulation all columns of both sides are completed with unseen cards; so the columns share its draws, and a
    column that takes the card to place needs one of them less. A tied column counts `tie_share`.
    """
    chances = np.zeros((2, NUM_COLUMNS))
    cards = np.empty(52, dtype=np.int8)
    count = list_unseen(state, cards)
    card_key = CARD_KEYS[state["deck"][state["turn"]]]
    for simulation in range(num_simulations):
        stream = mix(seed, np.uint64(simulation))
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
            chances[WAIT, column] += share_won(five_card_strength(table, own), opposite, tie_share)
            if own_missing:
                chances[PUT, column] += share_won(five_card_strength(table, put), opposite, tie_share)
    return chances / num_simulations


@kernel
def share_won(own: Int, opposite: Int, tie_share: float) -> float:
    """1 for the stronger hand, `tie_share` for an equal one."""
    if own == opposite:
        return tie_share
    return 1.0 if own > opposite else 0.0


@kernel
def game_chances(chances: Values, sizes: NDArray[np.int8], full: int) -> Values:
    """[5] chance of winning by each column for the card, by equation (3); -1 for those that have `full` cards.

    The column that takes the card counts with its PUT chance, the others with their WAIT chances (section II.B.4).
    """
    scores = np.full(NUM_COLUMNS, -1.0)
    mixed = chances[WAIT].copy()
    for column in range(NUM_COLUMNS):
        if sizes[column] < full:
            mixed[column] = chances[PUT, column]
            scores[column] = win_chance(mixed)
            mixed[column] = chances[WAIT, column]
    return scores


@kernel
def simulated_scores(
    table: Strengths,
    states: Records,
    players: Players,
    num_simulations: int,
    seeds: NDArray[np.uint64],
    tie_share: float,
) -> Values:
    """[N, 5] simulated chance of winning the game by each column for the card to place."""
    scores = np.empty((states.shape[0], NUM_COLUMNS))
    for n in range(states.shape[0]):
        chances = simulate_columns(table, states[n], players[n], num_simulations, seeds[n], tie_share)
        scores[n] = game_chances(chances, states[n]["sizes"][players[n]], COLUMN_SIZE)
    return scores


@kernel
def counted_columns(table: Strengths, state: Record, player: int, tie_share: float) -> Values:
    """[2, 5] what `simulate_columns` tends to, over all completions: from the third round on."""
    chances = np.zeros((2, NUM_COLUMNS))
    cards = np.empty(52, dtype=np.int8)
    count = list_unseen(state, cards)
    opposite, own = np.empty(_MAX_COMPLETIONS, dtype=np.int64), np.empty(_MAX_COMPLETIONS, dtype=np.int64)
    opposite_cards, own_cards = opposite.copy(), own.copy()
    for column in range(NUM_COLUMNS):
        num_opposite = complete(table, state["keys"][1 - player, column], cards, count, opposite, opposite_cards)
        for case in range(2):
            key = state["keys"][player, column] + (CARD_KEYS[state["deck"][state["turn"]]] if case == PUT else 0)
            if hand_size(key) > COLUMN_SIZE:
                continue
            num_own = complete(table, key, cards, count, own, own_cards)
            won = cases = 0.0
            for first in range(num_own):
                for second in range(num_opposite):
                    if not own_cards[first] & opposite_cards[second]:
                        won += share_won(own[first], opposite[second], tie_share)
                        cases += 1.0
            chances[case, column] = won / cases
    return chances


@kernel
def complete(
    table: Strengths,
    key: Int,
    cards: Cards,
    count: int,
    strengths: NDArray[np.int64],
    masks: NDArray[np.int64],
) -> int:
    """List the `strengths` and added cards (`masks`, bits of 0:count) of all completions of a hand; how many they are.

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
