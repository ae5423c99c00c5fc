"""Model of an opponent who plays Five-O's last round well: samples of its final cards.

Its last cards are face down, but the order of the columns that it fills is informative. It places each card optimally
against cards of the player that are in random order. Sampled draws are kept if they fill the observed columns.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import Cards, draw_below, hash_seed
from cardlab.games.cards.hands import CARD_KEYS, Int, Strengths, count_bits, five_card_strength
from cardlab.games.five_o.column_probability import Numbers, Values, game_win_probability
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, NUM_PLAYERS, Record

EMPTY = -1  # in place of a card: the last card of the column is missing
_MAX_ATTEMPTS_PER_SAMPLE = 64  # few opponents fill their columns in a rarer way
_MIN_SAMPLES = 32  # with fewer, the filled columns are taken as filled at random

Signs = NDArray[np.int8]


@kernel
def compare_columns(table: Strengths, state: Record, player: int, cards: Cards) -> Signs:
    """[5, n, n] 1, 0 or -1: a column of `player` with the first card against the opposite one with the second."""
    count = cards.size
    signs = np.zeros((NUM_COLUMNS, count, count), dtype=np.int8)
    strengths = np.empty((NUM_PLAYERS, count), dtype=np.int64)
    for column in range(NUM_COLUMNS):
        for side in range(NUM_PLAYERS):
            key: Any = np.int64(0)
            for slot in range(COLUMN_SIZE - 1):
                key += CARD_KEYS[state["columns"][player if side == 0 else 1 - player, column, slot]]
            for index in range(count):
                strengths[side, index] = five_card_strength(table, key + CARD_KEYS[cards[index]])
        for first in range(count):
            for second in range(count):
                signs[column, first, second] = np.sign(strengths[0, first] - strengths[1, second])
    return signs


@kernel
def opponent_position_values(signs: Signs) -> Values:
    """Expected payoff of the opponent in each position of its round, with its draws placed optimally.

    A position has one digit per column: 0 for EMPTY, or 1 + the card placed. So an added card increases the number:
    a loop from the highest number down knows all successors. Complete columns are taken as independent, as in equation
    (3), at a tenth of the cost of all orders.
    """
    count = signs.shape[1]
    beaten = np.zeros((NUM_COLUMNS, count), dtype=np.int64)
    beating = beaten.copy()
    for column in range(NUM_COLUMNS):
        for first in range(count):
            for second in range(count):
                beaten[column, second] |= np.int64(signs[column, first, second] < 0) << first
                beating[column, second] |= np.int64(signs[column, first, second] > 0) << first
    values = np.zeros((count + 1) ** NUM_COLUMNS)
    held = np.full(NUM_COLUMNS, count - 1)  # card of each column: the digits of `position`
    for position in range(values.size - 1, -1, -1):
        cards, num_cards = np.int64(0), 0
        for column in range(NUM_COLUMNS):
            if held[column] != EMPTY:
                cards |= np.int64(1) << held[column]
                num_cards += 1
        if count_bits(cards) == num_cards:  # else impossible: one card in two columns
            free = (np.int64(1) << count) - 1 & ~cards
            if num_cards == NUM_COLUMNS:
                values[position] = _independent_payoff(beaten, beating, held, free)
            else:
                values[position] = _mean_of_best(values, position, free, held, count + 1)
        for column in range(NUM_COLUMNS):  # decrement the digits
            if held[column] != EMPTY:
                held[column] -= 1
                break
            held[column] = count - 1
    return values


@kernel
def _independent_payoff(beaten: Numbers, beating: Numbers, held: Numbers, free: Int) -> float:
    """Expected payoff of five complete columns, each against a uniform card of `free` (bits), taken as independent."""
    num_free = count_bits(free)
    wins, losses = np.empty(NUM_COLUMNS), np.empty(NUM_COLUMNS)
    for column in range(NUM_COLUMNS):
        wins[column] = count_bits(beaten[column, held[column]] & free) / num_free
        losses[column] = count_bits(beating[column, held[column]] & free) / num_free
    return game_win_probability(wins) - game_win_probability(losses)


@kernel
def _mean_of_best(values: Values, position: int, free: Int, held: Numbers, base: int) -> float:
    """Mean over the next card, one of `free` (bits), of the best position that follows `position`."""
    total = cases = 0.0
    for card in range(base - 1):
        if free >> card & 1:
            best, stride = -np.inf, 1
            for place in range(held.size):
                if held[place] == EMPTY:
                    best = max(best, values[position + (card + 1) * stride])
                stride *= base
            total += best
            cases += 1
    return total / cases


@kernel
def sample_hidden_cards(
    opponent_values: Values, own_cards: Int, filled: int, count: int, seed: np.uint64, hidden: Numbers
) -> int:
    """Fill `hidden` [M, 5] with samples of the final cards of the opponent's columns; return the number of samples.

    `own_cards` is the mask of cards that it cannot have, `filled` the mask of its filled columns.
    """
    most, found = hidden.shape[0], 0
    pool = np.array([index for index in range(count) if not own_cards >> index & 1])
    for attempt in range(_MAX_ATTEMPTS_PER_SAMPLE * most):
        found += _fill_columns(
            opponent_values, pool, filled, count + 1, hash_seed(seed, np.uint64(attempt)), hidden[found]
        )
        if found == most:
            break
    if found < _MIN_SAMPLES:
        for found in range(most):
            _fill_at_random(pool, hash_seed(seed, np.uint64(found)), hidden[found])
        found = most
    return found


@kernel
def _fill_columns(
    opponent_values: Values, pool: Numbers, filled: int, base: int, seed: np.uint64, hidden: Numbers
) -> bool:
    """Place five cards drawn from `pool` on the opponent's columns `hidden` [5], each at the highest value.

    Return whether the first cards fill exactly the columns `filled`; if not, the remaining entries are unchanged.
    """
    position = now_filled = 0
    for turn in range(NUM_COLUMNS):
        _draw_next(pool, turn, seed)
        best, most, stride = EMPTY, -np.inf, 1
        chosen_stride = 0
        for column in range(NUM_COLUMNS):
            if not now_filled >> column & 1:
                value = opponent_values[position + (pool[turn] + 1) * stride]
                if value > most:
                    best, most, chosen_stride = column, value, stride
            stride *= base
        hidden[best] = pool[turn]
        position += (pool[turn] + 1) * chosen_stride
        now_filled |= 1 << best
        if turn + 1 == count_bits(filled) and now_filled != filled:
            return False
    return True


@kernel
def _fill_at_random(pool: Numbers, seed: np.uint64, hidden: Numbers) -> None:
    """Write five random cards of `pool` to `hidden` [5]."""
    for turn in range(NUM_COLUMNS):
        _draw_next(pool, turn, seed)
        hidden[turn] = pool[turn]


@kernel
def _draw_next(pool: Numbers, turn: int, seed: np.uint64) -> None:
    """Swap a uniformly drawn card of pool[turn:] to pool[turn]."""
    chosen = turn + draw_below(pool.size - turn, seed, turn)
    kept = pool[turn]
    pool[turn] = pool[chosen]
    pool[chosen] = kept
