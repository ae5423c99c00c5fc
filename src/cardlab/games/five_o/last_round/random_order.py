"""Values of Five-O's last round when the opponent's cards are in uniformly random order, as in the paper.

The opponent's last cards are face down, so the round is a one-player problem: which column takes which draw. The
opponent's five cards are any unseen cards, all orders equally likely (section II.B.5). Unlike the paper, columns are
evaluated jointly instead of by equation (3), and the player's later cards are placed optimally, not arbitrarily.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.hands import CARD_KEYS, Int, Strengths, five_card_strength
from cardlab.games.five_o.rules import COLUMN_SIZE, NUM_COLUMNS, Record, Records, list_unseen
from cardlab.games.protocol import Floats, Players

_NUM_FREE = 7  # unseen cards after the player's last card; the opponent has five of them
EMPTY = -1  # in place of a card: the last card is missing
COLUMNS_TO_WIN = 3  # to win the game

Numbers = NDArray[np.int64]
Values = NDArray[np.float64]


@kernel
def random_order_values(table: Strengths, states: Records, players: Players, by_columns: bool) -> Floats:
    """[G, 5] expected payoff of each column for the card to place; -inf for full columns."""
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
    """Masks of unseen cards with which the opponent loses (`beaten` [5, n]) and wins (`beating` [5, n]) a column.

    The second index is the card that the player's column takes, the card to place last; 0 for a complete column.
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
    """Expected payoffs of all positions that follow when column c holds card chosen[c]; EMPTY columns have none.

    A position has one digit per empty column: 0, or 1 + the card placed, one of `count`. So position 0 is the current
    one, and an added card increases the number: a loop from the highest number down knows all successors. Draws are
    placed optimally.
    """
    empty, taken = np.empty(NUM_COLUMNS, dtype=np.int64), np.empty(NUM_COLUMNS, dtype=np.int64)
    base, num_empty = count + 1, find_empty(chosen, empty)
    values = np.zeros(base**num_empty)
    for position in range(values.size - 1, -1, -1):
        cards, num_cards = read_position(position, base, empty[:num_empty], chosen, taken)
        if count_bits(cards) != num_cards:
            continue  # impossible: one card in two columns
        free = (np.int64(1) << count) - 1 & ~cards
        if num_cards == num_empty:
            values[position] = _final_payoff(beaten, beating, chosen, free, by_columns)
        else:
            values[position] = mean_of_best(values, position, free, taken[:num_empty], base)
    return values


@kernel
def find_empty(chosen: Numbers, empty: Numbers) -> int:
    """Write to `empty` the columns that are EMPTY in `chosen` [5]; return their number."""
    count = 0
    for column in range(NUM_COLUMNS):
        if chosen[column] == EMPTY:
            empty[count] = column
            count += 1
    return count


@kernel
def read_position(position: int, base: int, empty: Numbers, chosen: Numbers, taken: Numbers) -> tuple[Int, int]:
    """Write the cards of the columns `empty` in `position` to `chosen` and, in that order, to `taken`.

    Return the mask of the cards and the number of columns with a card; fewer bits mean a card in two columns.
    """
    cards, num_cards = np.int64(0), 0
    for place in range(empty.size):
        card = position % base - 1
        position //= base
        chosen[empty[place]] = taken[place] = card
        if card >= 0:
            cards |= np.int64(1) << card
            num_cards += 1
    return cards, num_cards


@kernel
def mean_of_best(values: Values, position: int, free: Int, taken: Numbers, base: int) -> float:
    """Mean over the next card, one of `free` (bits), of the best position that follows `position`."""
    total = cases = 0.0
    for card in range(base - 1):
        if free >> card & 1:
            best, stride = -np.inf, 1
            for place in range(taken.size):
                if taken[place] == EMPTY:
                    best = max(best, values[position + (card + 1) * stride])
                stride *= base
            total += best
            cases += 1
    return total / cases


@kernel
def _final_payoff(beaten: Numbers, beating: Numbers, chosen: Numbers, free: Int, by_columns: bool) -> float:
    """Expected payoff of five complete columns over all assignments of cards of `free` (bits) to the opponent."""
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
    return sum_payoff_signs(wins[:open_columns], losses[:open_columns], free, won, lost) / ways


@kernel
def sum_payoff_signs(wins: Numbers, losses: Numbers, free: Int, won: int, lost: int) -> int:
    """Games won minus games lost over all assignments of a distinct card of `free` (bits) to each column.

    Cards of wins[column] win it, cards of losses[column] lose it. `won` and `lost` columns are already decided.
    """
    size = wins.size
    ways = np.ones(size + 1, dtype=np.int64)  # assignments to the columns from this one on
    for place in range(size - 1, -1, -1):
        ways[place] = ways[place + 1] * (_NUM_FREE - place)
    cards, rest, num_won, num_lost = ways.copy(), ways.copy(), ways.copy(), ways.copy()
    cards[0], rest[0], num_won[0], num_lost[0] = free, free, won, lost
    total = place = 0
    while place >= 0:
        most = COLUMNS_TO_WIN - (size - place)
        if num_won[place] >= COLUMNS_TO_WIN or num_lost[place] >= COLUMNS_TO_WIN:
            total += ways[place] if num_won[place] >= COLUMNS_TO_WIN else -ways[place]
            place -= 1
        elif place == size - 1:
            gained = count_bits(wins[place] & cards[place]) if num_won[place] + 1 == COLUMNS_TO_WIN else 0
            total += gained - (count_bits(losses[place] & cards[place]) if num_lost[place] + 1 == COLUMNS_TO_WIN else 0)
            place -= 1
        elif rest[place] == 0 or (num_won[place] < most and num_lost[place] < most):
            place -= 1
        else:
            card = rest[place] & -rest[place]
            rest[place] ^= card
            cards[place + 1] = rest[place + 1] = cards[place] ^ card
            num_won[place + 1] = num_won[place] + (1 if wins[place] & card else 0)
            num_lost[place + 1] = num_lost[place] + (1 if losses[place] & card else 0)
            place += 1
    return int(total)


@kernel
def count_bits(mask: Int) -> int:
    """Number of set bits of a non-negative integer."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count
