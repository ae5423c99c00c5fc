"""Values of the columns in Five-O's last round, when it is the hidden round: best response to an opponent's model.

The own columns are filled optimally against the final hands sampled by opponent_model.py. This is level-2 play in the
sense of Nagel 1995: level 1, the opponent model, responds to level 0, whose cards are in random order.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.array_checks import checked_function
from cardlab.games.cards.deck import draw_seeds
from cardlab.games.cards.hands import Int, Strengths, count_bits, strength_table
from cardlab.games.five_o.column_probability import Numbers, Values
from cardlab.games.five_o.game import FiveO
from cardlab.games.five_o.opponent_model import (
    EMPTY,
    Signs,
    compare_columns,
    opponent_position_values,
    sample_hidden_cards,
)
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, NUM_TURNS, TURNS_PER_ROUND, Records, list_unseen
from cardlab.games.protocol import Bools, Floats, InfoStates, Players
from cardlab.games.record_arrays import take

Words = NDArray[np.uint64]

_HANDS_PER_SAMPLE = 64  # bits of a word


@checked_function(FiveO)
def solvable(info_states: InfoStates, players: Players, options: Mapping[str, Any] | None = None) -> Bools:
    """[G] whether `action_values` applies: `players` place a card of the last round, and it is the hidden round."""
    game = FiveO(**(options or {}))
    last = info_states["turn"] >= NUM_TURNS - TURNS_PER_ROUND
    return last & (game.current_player(info_states) == players) & (game.hidden_round == COLUMN_SIZE)


@checked_function(FiveO)
def action_values(
    info_states: InfoStates,
    players: Players,
    rng: np.random.Generator,
    num_samples: int,
    options: Mapping[str, Any] | None = None,
) -> Floats:
    """[G, 5] expected payoff to `players` of each column under optimal later placements; else -inf.

    The opponent is modelled as a good player, with 64 hands per sample. Games that are not `solvable` have -inf
    everywhere. `options` are the game's options (`GameSpec.options`).
    """
    values = np.full((len(info_states), NUM_COLUMNS), -np.inf, dtype=np.float32)
    rows = np.flatnonzero(solvable(info_states, players, options))
    seeds = draw_seeds(len(rows), rng)
    num_hands = _HANDS_PER_SAMPLE * num_samples
    values[rows] = best_response_values(strength_table(), take(info_states, rows), players[rows], seeds, num_hands)
    return values


@kernel
def best_response_values(
    table: Strengths, states: Records, players: Players, seeds: NDArray[np.uint64], num_samples: int
) -> Floats:
    """[G, 5] expected payoff of each column for the card to place; -inf for full columns.

    The means are over at most `num_samples` final hands of the opponent, drawn by seeds[g].
    """
    values = np.full((states.shape[0], NUM_COLUMNS), -np.inf, dtype=np.float32)
    cards, own = np.empty(52, dtype=np.int8), np.empty(NUM_COLUMNS, dtype=np.int64)
    hidden = np.empty((num_samples, NUM_COLUMNS), dtype=np.int64)
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
        own_cards = (np.int64(1) << count + 1) - (np.int64(1) << unseen)
        signs = compare_columns(table, state, player, cards[: count + 1])
        opponent_values = opponent_position_values(signs)
        num_sampled = sample_hidden_cards(opponent_values, own_cards, filled, count + 1, seeds[g], hidden)
        wins, losses, used = outcome_bits(signs, hidden[:num_sampled])
        for column in range(NUM_COLUMNS):
            if own[column] == EMPTY:
                own[column] = count
                values[g, column] = best_response_value(wins, losses, used, own, own_cards)
                own[column] = EMPTY
    return values


@kernel
def outcome_bits(signs: Signs, hidden: Numbers) -> tuple[Words, Words, Words]:
    """Bits of W words, one per sample: column wins, column loses with a card [5, n, W]; opponent has a card [n + 1, W].

    The last row of the third array marks the unused bits of the last word.
    """
    count, num_words = signs.shape[1], (hidden.shape[0] + 63) // 64
    wins = np.zeros((NUM_COLUMNS, count, num_words), dtype=np.uint64)
    losses = wins.copy()
    used = np.zeros((count + 1, num_words), dtype=np.uint64)
    for sample in range(64 * num_words):
        word, bit = sample // 64, np.uint64(1) << np.uint64(sample % 64)
        if sample >= hidden.shape[0]:
            used[count, word] |= bit
            continue
        for column in range(NUM_COLUMNS):
            used[hidden[sample, column], word] |= bit
            for card in range(count):
                sign = signs[column, card, hidden[sample, column]]
                if sign > 0:
                    wins[column, card, word] |= bit
                elif sign < 0:
                    losses[column, card, word] |= bit
    return wins, losses, used


@kernel
def best_response_value(wins: Words, losses: Words, used: Words, own: Numbers, own_cards: Int) -> float:
    """Expected payoff when column c holds card own[c] and EMPTY columns receive the later draws optimally.

    `own_cards` is the mask of the player's cards. A position has one digit per EMPTY column, as in
    `opponent_position_values`. A draw is weighted by the samples in which the opponent has neither that card nor the
    cards drawn before it.
    """
    empty, taken = np.flatnonzero(own == EMPTY), np.empty(NUM_COLUMNS, dtype=np.int64)
    base, num_empty = used.shape[0], empty.size
    values = np.zeros(base**num_empty)
    weights = np.zeros(values.size, dtype=np.int64)  # samples in which these cards are free; 0: impossible position
    free = np.empty(used.shape[1], dtype=np.uint64)
    for position in range(values.size - 1, -1, -1):
        cards, num_cards, digits = np.int64(own_cards), 0, position
        for place in range(num_empty):
            card = digits % base - 1
            digits //= base
            own[empty[place]] = taken[place] = card
            if card != EMPTY:
                cards |= np.int64(1) << card
                num_cards += 1
        if count_bits(cards) != count_bits(own_cards) + num_cards:
            continue  # impossible: one card in two columns
        weights[position] = _find_free(used, taken[:num_empty], free)
        if num_cards == num_empty:
            values[position] = _final_payoff(wins, losses, free, own) / max(weights[position], 1)
        else:
            values[position] = _mean_of_best(values, weights, position, taken[:num_empty], base)
    return float(values[0])


@kernel
def _find_free(used: Words, taken: Numbers, free: Words) -> int:
    """Write to `free` [W] the samples that hold none of the cards `taken`; return their number."""
    count = 0
    for word in range(free.size):
        free[word] = ~used[used.shape[0] - 1, word]
        for card in taken:
            if card != EMPTY:
                free[word] &= ~used[card, word]
        count += count_bits(free[word])
    return count


@kernel
def _final_payoff(wins: Words, losses: Words, free: Words, own: Numbers) -> int:
    """Games won minus games lost with five complete columns over all samples of `free`."""
    total = 0
    for word in range(free.size):
        total += count_bits(_three_of_five(wins, own, word) & free[word])
        total -= count_bits(_three_of_five(losses, own, word) & free[word])
    return total


@kernel
def _three_of_five(events: Words, own: Numbers, word: int) -> np.uint64:
    """Samples of a word in which at least three columns have their event: two chained full adders."""
    first, second, third = events[0, own[0], word], events[1, own[1], word], events[2, own[2], word]
    fourth, fifth = events[3, own[3], word], events[4, own[4], word]
    odd = first ^ second ^ third
    two = first & second | third & (first ^ second)
    more = odd & fourth | fifth & (odd ^ fourth)
    return two & more | (two ^ more) & (odd ^ fourth ^ fifth)


@kernel
def _mean_of_best(values: Values, weights: Numbers, position: int, taken: Numbers, base: int) -> float:
    """Mean over the next card, by weight, of the best position that follows `position`."""
    total = cases = 0.0
    for card in range(base - 1):
        best, weight, stride = -np.inf, 0, 1
        for place in range(taken.size):
            following = position + (card + 1) * stride
            if taken[place] == EMPTY and weights[following] > 0:
                weight = weights[following]
                best = max(best, values[following])
            stride *= base
        if weight > 0:
            total += weight * best
            cases += weight
    return total / max(cases, 1.0)
