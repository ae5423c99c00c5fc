"""Five-O's last round against an opponent who plays it well.

Against what guesses.py says that the opponent may end with, the own columns are filled for the best. This is the second
level of play in the sense of Nagel 1995: the best reply to one who replies best to somebody who does not look.
"""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.hands import Int, Strengths
from cardlab.games.five_o.last_round.opponent_model import Signs, compare_columns, guess_hidden, opponent_plan
from cardlab.games.five_o.last_round.random_order import EMPTY, Numbers, Values, count_bits, find_empty, read_position
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, Records, list_unseen
from cardlab.games.protocol import Floats, Players

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
        count = list_unseen(state, cards)
        unseen, filled = count, 0
        for column in range(NUM_COLUMNS):
            own[column] = EMPTY
            if state["sizes"][player, column] == COLUMN_SIZE:
                cards[count] = state["columns"][player, column, COLUMN_SIZE - 1]
                own[column] = count
                count += 1
            if state["sizes"][1 - player, column] == COLUMN_SIZE:
                filled |= 1 << column
        cards[count] = state["deck"][state["turn"]]
        mine = (np.int64(1) << count + 1) - (np.int64(1) << unseen)
        signs = compare_columns(table, state, player, cards[: count + 1])
        guessed = guess_hidden(opponent_plan(signs, by_columns), mine, filled, count + 1, seeds[g], hidden)
        wins, losses, used = tell_outcomes(signs, hidden[:guessed])
        for column in range(NUM_COLUMNS):
            if own[column] == EMPTY:
                own[column] = count
                values[g, column] = reply_value(wins, losses, used, own, mine, by_columns)
                own[column] = EMPTY
    return values


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
