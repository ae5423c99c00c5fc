"""Five-O's last round as the seed takes it: what each column is worth over all orders of the cards that are not seen.

The opponent's last cards are face down and tell nothing here, so the round is a problem of one player: which column
takes which of the cards that one still draws. The opponent's five cards are any of the unseen ones, each order as
likely, as in the seed's exact probabilities (section II.B.5); but the columns are taken together, where the seed
multiplies their chances by equation (3), and one's own later cards are placed as well as they can be, where it takes
any.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, Record, Records, list_unseen
from cardlab.games.protocol import Floats, Players

_NUM_FREE = 7  # unseen cards once one's own are placed: five of them are the opponent's
EMPTY = -1  # in place of a card: the column lacks its last one
NEEDED = 3  # columns that win the game

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]


@kernel
def column_values(table: Strengths, states: Records, players: Players, by_columns: bool) -> Floats:
    """[G, 5] expected payoff of each column for the card to place, minus infinity for full ones."""
    values = np.full((states.shape[0], NUM_COLUMNS), -np.inf, dtype=np.float32)
    cards = np.empty(52, dtype=np.int8)
    chosen = np.empty(NUM_COLUMNS, dtype=np.int64)
    for g in range(states.shape[0]):
        state, player = states[g], players[g]
        count = list_unseen(state, cards)
        cards[count] = state["deck"][state["turn"]]
        beaten, beating = _compare(table, state, player, cards[: count + 1])
        for column in range(NUM_COLUMNS):
            if state["sizes"][player, column] < COLUMN_SIZE:
                for other in range(NUM_COLUMNS):
                    chosen[other] = EMPTY if state["sizes"][player, other] < COLUMN_SIZE else 0
                chosen[column] = count
                values[g, column] = position_values(beaten, beating, chosen, count, by_columns)[0]
    return values


@kernel
def _compare(table: Strengths, state: Record, player: int, cards: NDArray[np.int8]) -> tuple[Numbers, Numbers]:
    """[5, n] twice: the unseen cards, as bits, with which the opponent loses (beaten) and wins (beating) the column.

    The second index is the card that one's own column takes, the last of them the one to place; 0 where it is complete.
    """
    count = cards.size - 1
    beaten = np.zeros((NUM_COLUMNS, cards.size), dtype=np.int64)
    beating = beaten.copy()
    opposite = np.empty(count, dtype=np.int64)
    for column in range(NUM_COLUMNS):
        for index in range(count):
            added: Any = CARD_KEYS[cards[index]]
            opposite[index] = five_card_strength(table, state["keys"][1 - player, column] + added)
        complete = state["sizes"][player, column] == COLUMN_SIZE
        for own in range(1 if complete else count + 1):
            key = state["keys"][player, column] + (0 if complete else CARD_KEYS[cards[own]])
            strength = five_card_strength(table, key)
            for index in range(count):
                beaten[column, own] |= np.int64(opposite[index] < strength) << index
                beating[column, own] |= np.int64(opposite[index] > strength) << index
    return beaten, beating


@kernel
def position_values(beaten: Numbers, beating: Numbers, chosen: Numbers, count: int, by_columns: bool) -> Values:
    """Expected payoffs of all positions that follow when column c holds card chosen[c], EMPTY ones one of `count`.

    A position is numbered by a digit for each empty column: 0, or 1 and the card that it got; so 0 is where one stands.
    A card more makes a greater number: from the last number down all that may follow a position is known before it.
    The empty columns get what is still to be drawn, the best for each card.
    """
    empty, taken = np.empty(NUM_COLUMNS, dtype=np.int64), np.empty(NUM_COLUMNS, dtype=np.int64)
    base, num_empty = count + 1, find_empty(chosen, empty)
    values = np.zeros(base**num_empty)
    for code in range(values.size - 1, -1, -1):
        cards, num_cards = read_position(code, base, empty[:num_empty], chosen, taken)
        if count_bits(cards) != num_cards:
            continue  # one card in two columns
        free = (np.int64(1) << count) - 1 & ~cards
        if num_cards == num_empty:
            values[code] = _final_payoff(beaten, beating, chosen, free, by_columns)
        else:
            values[code] = mean_of_best(values, code, free, taken[:num_empty], base)
    return values


@kernel
def find_empty(chosen: Numbers, empty: Numbers) -> int:
    """Write to `empty` the columns that are EMPTY in `chosen` [5]; how many they are."""
    count = 0
    for column in range(NUM_COLUMNS):
        if chosen[column] == EMPTY:
            empty[count] = column
            count += 1
    return count


@kernel
def read_position(code: int, base: int, empty: Numbers, chosen: Numbers, taken: Numbers) -> tuple[Int, int]:
    """Write what the columns `empty` hold in position `code` to `chosen` and, in their order, to `taken`.

    The cards as bits, and how many columns have one: more than there are bits where a card is in two of them.
    """
    cards, num_cards = np.int64(0), 0
    for place in range(empty.size):
        card = code % base - 1
        code //= base
        chosen[empty[place]] = taken[place] = card
        if card >= 0:
            cards |= np.int64(1) << card
            num_cards += 1
    return cards, num_cards


@kernel
def mean_of_best(values: Values, code: int, free: Int, taken: Numbers, base: int) -> float:
    """Mean over the next card, one of `free` (bits), of the best position that it leads to from number `code`."""
    total = cases = 0.0
    for card in range(base - 1):
        if free >> card & 1:
            best, stride = -np.inf, 1
            for place in range(taken.size):
                if taken[place] == EMPTY:
                    best = max(best, values[code + (card + 1) * stride])
                stride *= base
            total += best
            cases += 1
    return total / cases


@kernel
def _final_payoff(beaten: Numbers, beating: Numbers, chosen: Numbers, free: Int, by_columns: bool) -> float:
    """Expected payoff of five complete columns over all ways to give the opponent's one card each of `free` (bits)."""
    wins, losses = np.empty(NUM_COLUMNS, dtype=np.int64), np.empty(NUM_COLUMNS, dtype=np.int64)
    open_columns = won = lost = 0
    balance = 0
    for column in range(NUM_COLUMNS):
        win, lose = beaten[column, chosen[column]] & free, beating[column, chosen[column]] & free
        balance += count_bits(win) - count_bits(lose)
        if win == free:
            won += 1
        elif lose == free:
            lost += 1
        elif win | lose:
            wins[open_columns], losses[open_columns] = win, lose
            open_columns += 1
    if by_columns:
        return balance / (_NUM_FREE * NUM_COLUMNS)
    ways = 1
    for place in range(open_columns):
        ways *= _NUM_FREE - place
    return sum_signs(wins[:open_columns], losses[:open_columns], free, won, lost) / ways


@kernel
def sum_signs(wins: Numbers, losses: Numbers, free: Int, won: int, lost: int) -> int:
    """Games won less games lost over all ways to give each column another card of `free` (bits).

    A column is won with the cards of wins[column], lost with those of losses[column]; `won` and `lost` are so already.
    """
    size = wins.size
    ways = np.ones(size + 1, dtype=np.int64)  # to give cards to the columns from each on
    for place in range(size - 1, -1, -1):
        ways[place] = ways[place + 1] * (_NUM_FREE - place)
    cards, rest, gains, falls = ways.copy(), ways.copy(), ways.copy(), ways.copy()
    cards[0], rest[0], gains[0], falls[0] = free, free, won, lost
    total = place = 0
    while place >= 0:
        most = NEEDED - (size - place)
        if gains[place] >= NEEDED or falls[place] >= NEEDED:
            total += ways[place] if gains[place] >= NEEDED else -ways[place]
            place -= 1
        elif place == size - 1:
            gained = count_bits(wins[place] & cards[place]) if gains[place] + 1 == NEEDED else 0
            total += gained - (count_bits(losses[place] & cards[place]) if falls[place] + 1 == NEEDED else 0)
            place -= 1
        elif rest[place] == 0 or (gains[place] < most and falls[place] < most):
            place -= 1
        else:
            card = rest[place] & -rest[place]
            rest[place] ^= card
            cards[place + 1] = rest[place + 1] = cards[place] ^ card
            gains[place + 1] = gains[place] + (1 if wins[place] & card else 0)
            falls[place + 1] = falls[place] + (1 if losses[place] & card else 0)
            place += 1
    return int(total)


@kernel
def count_bits(mask: Int) -> int:
    """How many bits of a non-negative number are set."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count
