"""Winning probabilities of columns, simulated or over all completions, and of the game by equation (3).

As in the paper, a tied column counts as won, and columns are taken as independent. The column that takes the card
counts with it, the others without (sections II.B.4 and II.B.5).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import Cards, hash_seed
from cardlab.games.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength, hand_size
from cardlab.games.five_o.hand_values import CHOOSE
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, Record, Records, list_unseen
from cardlab.games.protocol import Players

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]

# Linear congruential generator modulo 2^64 (Knuth, MMIX); the upper half is used.
LCG_FACTOR, LCG_STEP, LCG_HALF = np.uint64(6364136223846793005), np.uint64(1442695040888963407), np.uint64(32)

WITHOUT_CARD, WITH_CARD = 0, 1  # column without, and with, the card to place
_ALL = 2**62  # simulations: enough for all completions
_MAX_MISSING = 3  # cards, of columns whose completions are enumerated
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

    Each share has its own simulations: the own column is completed first, then the opposite one. Where there are at
    most `num_simulations` completions of both, the share is that of all of them.
    """
    probabilities = np.zeros((2, NUM_COLUMNS))
    cards = np.empty(52, dtype=np.int8)
    count = list_unseen(state, cards)
    mine, my_cards = np.empty(_MAX_COMPLETIONS, dtype=np.int64), np.empty(_MAX_COMPLETIONS, dtype=np.int64)
    theirs, their_cards = np.empty_like(mine), np.empty_like(mine)
    for column in range(NUM_COLUMNS):
        other, num_theirs = np.int64(state["keys"][1 - player, column]), 0
        for case in range(2):
            own: Any = np.int64(state["keys"][player, column])
            own += CARD_KEYS[state["deck"][state["turn"]]] if case == WITH_CARD else 0
            if hand_size(own) > COLUMN_SIZE:
                continue
            if _num_completions(count, COLUMN_SIZE - hand_size(own), COLUMN_SIZE - hand_size(other)) > num_simulations:
                stream = hash_seed(seed, np.uint64(2 * column + case))
                probabilities[case, column] = _simulate_column(table, own, other, cards, count, num_simulations, stream)
                continue
            if num_theirs == 0:
                num_theirs = enumerate_completions(table, other, cards, count, theirs, their_cards)
            num_mine = enumerate_completions(table, own, cards, count, mine, my_cards)
            _, lost, cases = compare_completions(mine[:num_mine], my_cards, theirs[:num_theirs], their_cards)
            probabilities[case, column] = (cases - lost) / cases
    return probabilities


@kernel
def _num_completions(count: int, own_missing: Int, other_missing: Int) -> float:
    """Number of ways to complete two columns with `count` unseen cards; infinite where too many to enumerate."""
    if max(own_missing, other_missing) > _MAX_MISSING:
        return np.inf
    return CHOOSE[count, own_missing] * CHOOSE[count - own_missing, other_missing]


@kernel
def _simulate_column(
    table: Strengths, own: Int, other: Int, cards: Cards, count: int, num_simulations: int, stream: np.uint64
) -> float:
    """Share of random completions of two columns in which `own` is at least as strong as `other`."""
    other_missing = COLUMN_SIZE - hand_size(other)
    missing = COLUMN_SIZE - hand_size(own) + other_missing
    won = 0
    for _ in range(num_simulations):
        mine: Any = np.int64(own)
        theirs: Any = np.int64(other)
        drawn, left = np.int64(0), missing
        while left > 0:
            stream = stream * LCG_FACTOR + LCG_STEP
            chosen = np.int64(((stream >> LCG_HALF) * np.uint64(count)) >> LCG_HALF)
            bit = np.int64(1) << chosen
            if drawn & bit:
                continue
            drawn |= bit
            if left > other_missing:
                mine += CARD_KEYS[cards[chosen]]
            else:
                theirs += CARD_KEYS[cards[chosen]]
            left -= 1
        won += five_card_strength(table, mine) >= five_card_strength(table, theirs)
    return won / num_simulations


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
    return simulate_columns(table, state, player, _ALL, np.uint64(0))


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
