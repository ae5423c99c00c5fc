"""What the opponent may end Five-O's last round with, if it plays it well.

Its last cards lie face down, but which columns it has filled is seen, and who plays well does not fill them at random:
a card goes where it wins. So it is taken to play the round as last_round.py does, all cards opposite being alike to it;
orders in which it may have drawn are sampled, and those kept in which it has filled the columns that are filled.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import Cards, draw_below, mix
from cardlab.games.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength
from cardlab.games.five_o.chances import win_chance
from cardlab.games.five_o.last_round.random_order import EMPTY, Numbers, Values, count_bits, mean_of_best
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, NUM_PLAYERS, Record

_TRIES = 64  # for each guess that is wanted: few opponents fill their columns in a way that is rarer
_LEAST_GUESSES = 32  # fewer tell nothing: then what is filled was filled at random

_NUM_BITS = np.array([bits.bit_count() for bits in range(1 << 12)], dtype=np.int64)

Signs = NDArray[np.int8]


@kernel
def compare_columns(table: Strengths, state: Record, player: int, cards: Cards) -> Signs:
    """[5, n, n] 1 where a column of `player` with the first card beats the one opposite with the second, −1, or 0."""
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
def opponent_plan(signs: Signs, by_columns: bool) -> Values:
    """What each position of the opponent's round is worth to it, any cards opposite, numbered as in position_values.

    Columns are taken as independent of each other in the end, as in equation (3): a tenth of the time of all orders.
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
    held = np.full(NUM_COLUMNS, count - 1)  # the card of each column, by the digits of `code`
    for code in range(values.size - 1, -1, -1):
        cards, num_cards = np.int64(0), 0
        for column in range(NUM_COLUMNS):
            if held[column] != EMPTY:
                cards |= np.int64(1) << held[column]
                num_cards += 1
        if _NUM_BITS[cards] == num_cards:
            free = (np.int64(1) << count) - 1 & ~cards
            if num_cards == NUM_COLUMNS:
                values[code] = _independent_payoff(beaten, beating, held, free, by_columns)
            else:
                values[code] = mean_of_best(values, code, free, held, count + 1)
        for column in range(NUM_COLUMNS):  # count down
            if held[column] != EMPTY:
                held[column] -= 1
                break
            held[column] = count - 1
    return values


@kernel
def _independent_payoff(beaten: Numbers, beating: Numbers, held: Numbers, free: Int, by_columns: bool) -> float:
    """Expected payoff of five complete columns, each against any of the cards `free` (bits) by itself."""
    num_free = _NUM_BITS[free]
    wins, losses = np.empty(NUM_COLUMNS), np.empty(NUM_COLUMNS)
    for column in range(NUM_COLUMNS):
        wins[column] = _NUM_BITS[beaten[column, held[column]] & free] / num_free
        losses[column] = _NUM_BITS[beating[column, held[column]] & free] / num_free
    if by_columns:
        return float((wins - losses).sum()) / NUM_COLUMNS
    return win_chance(wins) - win_chance(losses)


@kernel
def guess_hidden(plan: Values, mine: Int, filled: int, count: int, seed: np.uint64, hidden: Numbers) -> int:
    """Fill `hidden` [M, 5] with the cards that the opponent's columns may end with; how many were found.

    Bits: `mine` are the cards that it cannot have, `filled` its columns that have theirs.
    """
    most, found = hidden.shape[0], 0
    pool = np.array([index for index in range(count) if not mine >> index & 1])
    for attempt in range(_TRIES * most):
        found += _fill_columns(plan, pool, filled, count + 1, mix(seed, np.uint64(attempt)), hidden[found])
        if found == most:
            break
    if found < _LEAST_GUESSES:
        for found in range(most):
            _fill_at_random(pool, mix(seed, np.uint64(found)), hidden[found])
        found = most
    return found


@kernel
def _fill_columns(plan: Values, pool: Numbers, filled: int, base: int, seed: np.uint64, hidden: Numbers) -> bool:
    """Write to `hidden` [5] where the opponent puts five cards drawn from `pool`, each where `plan` is worth most.

    Whether the first of them have filled the columns `filled`; where they have not, the rest is left as it was.
    """
    code = now_filled = 0
    for turn in range(NUM_COLUMNS):
        _draw_next(pool, turn, seed)
        best, most, stride = EMPTY, -np.inf, 1
        chosen_stride = 0
        for column in range(NUM_COLUMNS):
            if not now_filled >> column & 1:
                worth = plan[code + (pool[turn] + 1) * stride]
                if worth > most:
                    best, most, chosen_stride = column, worth, stride
            stride *= base
        hidden[best] = pool[turn]
        code += (pool[turn] + 1) * chosen_stride
        now_filled |= 1 << best
        if turn + 1 == count_bits(filled) and now_filled != filled:
            return False
    return True


@kernel
def _fill_at_random(pool: Numbers, seed: np.uint64, hidden: Numbers) -> None:
    """Write five cards of `pool` to `hidden` [5]."""
    for turn in range(NUM_COLUMNS):
        _draw_next(pool, turn, seed)
        hidden[turn] = pool[turn]


@kernel
def _draw_next(pool: Numbers, turn: int, seed: np.uint64) -> None:
    """Move one of pool[turn:], each as likely, to pool[turn]."""
    chosen = turn + draw_below(pool.size - turn, seed, turn)
    kept = pool[turn]
    pool[turn] = pool[chosen]
    pool[chosen] = kept
