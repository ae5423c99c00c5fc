"""Five-O's last round against an opponent who plays it well.

The last cards lie face down, but which columns the opponent has filled is seen, and who plays well does not fill them
at random: a card goes where it wins. So the opponent is taken to play the round as last_round.py does, one's own cards
being any to it; orders in which it may have drawn are sampled, and those kept in which it has filled the columns that
are filled. Against what it then holds in the end, the own columns are filled for the best. This is the second level of
play in the sense of Nagel 1995: the best reply to one who replies best to somebody who does not look.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.cards.deck import Cards, draw_below, mix
from cardlab.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength
from cardlab.games.five_o.last_round import (
    EMPTY,
    Numbers,
    Values,
    count_bits,
    find_empty,
    mean_of_best,
    read_position,
)
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, NUM_PLAYERS, Record, Records
from cardlab.games.protocol import Floats, Players
from cardlab.kernels import kernel

_TRIES = 64  # for each guess that is wanted: few opponents fill their columns in a way that is rarer
_LEAST_GUESSES = 32  # fewer tell nothing: then what is filled was filled at random

_NUM_BITS = np.array([bits.bit_count() for bits in range(1 << 12)], dtype=np.int64)

Signs = NDArray[np.int8]
Words = NDArray[np.uint64]


@kernel
def reply_values(
    table: Strengths,
    states: Records,
    players: Players,
    seeds: NDArray[np.uint64],
    num_guesses: int,
    by_columns: bool,
) -> Floats:
    """[G, 5] expected payoff of each column for the card to place, minus infinity for full ones.

    The means are over `num_guesses` of what the opponent ends with, or fewer, drawn by seeds[g].
    """
    values = np.full((states.shape[0], NUM_COLUMNS), -np.inf, dtype=np.float32)
    cards = np.empty(52, dtype=np.int8)
    own = np.empty(NUM_COLUMNS, dtype=np.int64)
    hidden = np.empty((num_guesses, NUM_COLUMNS), dtype=np.int64)
    for g in range(states.shape[0]):
        state, player = states[g], players[g]
        count = _list_last(state, cards)
        signs = compare_columns(table, state, player, cards[:count])
        card = _find(cards, count, state["deck"][state["turn"]])
        mine, filled = np.int64(1) << card, 0
        for column in range(NUM_COLUMNS):
            own[column] = _find(cards, count, state["columns"][player, column, COLUMN_SIZE - 1])
            if own[column] != EMPTY:
                mine |= np.int64(1) << own[column]
            if state["sizes"][1 - player, column] == COLUMN_SIZE:
                filled |= 1 << column
        guessed = guess_hidden(opponent_plan(signs, by_columns), mine, filled, count, seeds[g], hidden)
        wins, losses, used = tell_outcomes(signs, hidden[:guessed])
        for column in range(NUM_COLUMNS):
            if own[column] == EMPTY:
                own[column] = card
                values[g, column] = reply_value(wins, losses, used, own, mine, by_columns)
                own[column] = EMPTY
    return values


@kernel
def _list_last(state: Record, cards: Cards) -> int:
    """Fill `cards` [52] with those that do not lie face up, in ascending order; how many they are: 12."""
    seen = np.int64(0)
    for player in range(NUM_PLAYERS):
        for column in range(NUM_COLUMNS):
            for slot in range(COLUMN_SIZE - 1):
                seen |= np.int64(1) << np.int64(state["columns"][player, column, slot])
    count = 0
    for card in range(52):
        if not seen >> card & 1:
            cards[count] = card
            count += 1
    return count


@kernel
def _find(cards: Cards, count: int, card: Int) -> int:
    """The index of `card` in cards[0:count]; EMPTY where it is not there, as for an unknown one."""
    for index in range(count):
        if cards[index] == card:
            return index
    return EMPTY


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
    return _chance_of_three(wins) - _chance_of_three(losses)


@kernel
def _chance_of_three(chances: Values) -> float:
    """Chance that at least three of five independent events come true."""
    none, one, two = 1.0, 0.0, 0.0
    for chance in chances:
        two = two * (1 - chance) + one * chance
        one = one * (1 - chance) + none * chance
        none *= 1 - chance
    return 1 - none - one - two


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


@kernel
def tell_outcomes(signs: Signs, hidden: Numbers) -> tuple[Words, Words, Words]:
    """A bit for each guess, in W words: whether a column wins with a card, loses [5, n, W]; who has it [n + 1, W].

    The last row of those tells the places in the last word that are no guess.
    """
    count, num_words = signs.shape[1], (hidden.shape[0] + 63) // 64
    wins = np.zeros((NUM_COLUMNS, count, num_words), dtype=np.uint64)
    losses = wins.copy()
    used = np.zeros((count + 1, num_words), dtype=np.uint64)
    for guess in range(64 * num_words):
        word, bit = guess // 64, np.uint64(1) << np.uint64(guess % 64)
        if guess >= hidden.shape[0]:
            used[count, word] |= bit
            continue
        for column in range(NUM_COLUMNS):
            used[hidden[guess, column], word] |= bit
            for card in range(count):
                sign = signs[column, card, hidden[guess, column]]
                if sign > 0:
                    wins[column, card, word] |= bit
                elif sign < 0:
                    losses[column, card, word] |= bit
    return wins, losses, used


@kernel
def reply_value(wins: Words, losses: Words, used: Words, own: Numbers, mine: Int, by_columns: bool) -> float:
    """The expected payoff when column c holds card own[c], and EMPTY ones get what is still to be drawn, for the best.

    `mine` are the cards that are one's own, as bits. Positions are numbered as in position_values; how likely a card
    is drawn next is told by the guesses in which the opponent has neither it nor those before it.
    """
    empty, taken = np.empty(NUM_COLUMNS, dtype=np.int64), np.empty(NUM_COLUMNS, dtype=np.int64)
    base, num_empty = used.shape[0], find_empty(own, empty)
    values = np.zeros(base**num_empty)
    weights = np.zeros(values.size, dtype=np.int64)  # guesses in which these cards are free; 0: no such position
    free = np.empty(used.shape[1], dtype=np.uint64)
    for code in range(values.size - 1, -1, -1):
        cards, num_cards = read_position(code, base, empty[:num_empty], own, taken)
        if count_bits(cards | mine) != count_bits(mine) + num_cards:
            continue  # one card in two columns
        weights[code] = _find_free(used, taken[:num_empty], free)
        if num_cards == num_empty:
            values[code] = _final_payoff(wins, losses, free, own, by_columns) / max(weights[code], 1)
        else:
            values[code] = _mean_of_best(values, weights, code, taken[:num_empty], base)
    return float(values[0])


@kernel
def _find_free(used: Words, taken: Numbers, free: Words) -> int:
    """Write to `free` [W] the guesses that hold none of the cards `taken`; how many they are."""
    count = 0
    for word in range(free.size):
        free[word] = ~used[used.shape[0] - 1, word]
        for card in taken:
            if card != EMPTY:
                free[word] &= ~used[card, word]
        count += _count_ones(free[word])
    return count


@kernel
def _final_payoff(wins: Words, losses: Words, free: Words, own: Numbers, by_columns: bool) -> float:
    """What five complete columns are paid in all guesses of `free` together."""
    total = 0
    for word in range(free.size):
        if by_columns:
            for column in range(NUM_COLUMNS):
                total += _count_ones(wins[column, own[column], word] & free[word])
                total -= _count_ones(losses[column, own[column], word] & free[word])
        else:
            total += _count_ones(_three_of_five(wins, own, word) & free[word])
            total -= _count_ones(_three_of_five(losses, own, word) & free[word])
    return total / NUM_COLUMNS if by_columns else float(total)


@kernel
def _three_of_five(events: Words, own: Numbers, word: int) -> np.uint64:
    """The guesses of a word in which at least three columns have their event: two full adders, one behind the other."""
    first, second, third = events[0, own[0], word], events[1, own[1], word], events[2, own[2], word]
    fourth, fifth = events[3, own[3], word], events[4, own[4], word]
    odd = first ^ second ^ third
    two = first & second | third & (first ^ second)
    more = odd & fourth | fifth & (odd ^ fourth)
    return two & more | (two ^ more) & (odd ^ fourth ^ fifth)


@kernel
def _count_ones(word: np.uint64) -> int:
    """How many bits of a word are set (Warren 2012, figure 5-2)."""
    word -= word >> np.uint64(1) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (word >> np.uint64(2) & np.uint64(0x3333333333333333))
    word = word + (word >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int(np.int64(word * np.uint64(0x0101010101010101) >> np.uint64(56)))


@kernel
def _mean_of_best(values: Values, weights: Numbers, code: int, taken: Numbers, base: int) -> float:
    """Mean over the next card of the best position that it leads to from number `code`, by the weights of the cards."""
    total = cases = 0.0
    for card in range(base - 1):
        best, weight, stride = -np.inf, 0, 1
        for place in range(taken.size):
            following = code + (card + 1) * stride
            if taken[place] == EMPTY and weights[following] > 0:
                weight = weights[following]
                best = max(best, values[following])
            stride *= base
        if weight > 0:
            total += weight * best
            cases += weight
    return total / max(cases, 1.0)
