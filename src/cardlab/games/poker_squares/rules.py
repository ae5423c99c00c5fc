"""State record of Poker Squares and the kernels of its rules.

`deck` holds the cards still to be placed: deck[turn] is face up, later cards are hidden, and earlier cards are on the
grid and UNKNOWN here. So games with equal grid and equal face-up card have equal InfoStates.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, NUM_SUITS, UNKNOWN, Cards, cards_once, list_unseen, shuffle
from cardlab.games.cards.hands import (
    FLUSH,
    FOUR,
    FULL_HOUSE,
    HIGH_CARD,
    PAIR,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE,
    TWO_PAIR,
)
from cardlab.games.protocol import Actions, Bools, InfoStates, States

SIDE = 5
NUM_CELLS = 25
NUM_LINES = 10  # rows 0 … 4 are lines 0 … 4, columns 0 … 4 are lines 5 … 9

# Category by the number of pairs of cards with equal ranks: 0, 1, 2, 3, 4 (full house), 6 (four of a kind).
CATEGORY_OF_PAIRS = np.array([HIGH_CARD, PAIR, TWO_PAIR, THREE, FULL_HOUSE, FULL_HOUSE, FOUR], dtype=np.int8)

STATE = np.dtype([("grid", np.int8, NUM_CELLS), ("deck", np.int8, NUM_CELLS), ("turn", np.int8)])

Records = NDArray[np.void]  # [G] of STATE
Scores = NDArray[np.int8]  # [10] by category

Line = tuple[int, int, int, int, int]
"""Contents of a line: number of cards, mask of ranks, mask of suits, counts of ranks, pairs of equal ranks.

The counts are 13 fields of 4 bits, rank 0 lowest.
"""
EMPTY_LINE: Line = (0, 0, 0, 0, 0)


def deal_records(decks: Cards) -> Records:
    """[G] new games in which decks[g, 0:25] turn up in order."""
    states = np.zeros(len(decks), dtype=STATE)
    states["grid"] = -1
    states["deck"] = decks[:, :NUM_CELLS]
    return states


def are_valid(states: Records) -> Bools:
    """[G] whether each record can occur."""
    grid, deck, turns = states["grid"], states["deck"], states["turn"]
    later = np.arange(NUM_CELLS) - turns[:, None]
    known = (deck >= 0) & (later > 0)
    return (
        cards_once(grid, deck)
        & ((grid >= 0).sum(axis=1) == turns)
        & ((deck == UNKNOWN) | (later >= 0)).all(axis=1)
        & (~known.any(axis=1) | (known == (later > 0)).all(axis=1))
    )


@kernel
def current_players(states: Records) -> NDArray[np.int8]:
    """[G] 0 where a card is face up; -1 when the game is over or the next card is unknown."""
    players = np.empty(states.shape[0], dtype=np.int8)
    for g in range(states.shape[0]):
        turn = states[g]["turn"]
        players[g] = 0 if turn < NUM_CELLS and states[g]["deck"][min(turn, NUM_CELLS - 1)] >= 0 else -1
    return players


@kernel
def legal_cells(states: Records) -> NDArray[np.bool_]:
    """[G, 25] empty cells, where a card is face up."""
    legal = np.empty((states.shape[0], NUM_CELLS), dtype=np.bool_)
    for g in range(states.shape[0]):
        state = states[g]
        turn = state["turn"]
        decides = turn < NUM_CELLS and state["deck"][min(turn, NUM_CELLS - 1)] >= 0
        for cell in range(NUM_CELLS):
            legal[g, cell] = decides and state["grid"][cell] < 0
    return legal


@kernel
def place(states: Records, actions: NDArray[np.int16]) -> None:
    """Put the face-up card on the cell actions[g]; no-op without a face-up card."""
    for g in range(states.shape[0]):
        state = states[g]
        turn = state["turn"]
        if turn >= NUM_CELLS or state["deck"][turn] < 0:
            continue
        state["grid"][actions[g]] = state["deck"][turn]
        state["deck"][turn] = -1
        state["turn"] = turn + 1


@kernel
def line_cell(line: int, position: int) -> int:
    """The cell at `position` 0 … 4 of `line`."""
    return SIDE * line + position if line < SIDE else SIDE * position + line - SIDE


@kernel
def with_card(line: Line, card: int) -> Line:
    """Contents of `line` after `card` is added."""
    num_cards, ranks, suits, counts, pairs = line
    shift = 4 * (card >> 2)
    pairs += (counts >> shift) & 15
    return num_cards + 1, ranks | 1 << (card >> 2), suits | 1 << (card & 3), counts + (1 << shift), pairs


@kernel
def scan_line(grid: Cards, line: int) -> Line:
    """Contents of row or column `line` of the grid."""
    contents = EMPTY_LINE
    for position in range(SIDE):
        card = int(np.int64(grid[line_cell(line, position)]))
        if card >= 0:
            contents = with_card(contents, card)
    return contents


@kernel
def line_category(line: Line) -> int:
    """Category of a line, complete or not; straights and flushes need five cards, an empty line is a high card."""
    num_cards, ranks, suits, _, pairs = line
    if pairs > 0 or num_cards < SIDE:
        return int(CATEGORY_OF_PAIRS[pairs])
    straight = ranks == 31 * (ranks & -ranks) or ranks == 0x100F
    if suits & (suits - 1):
        return STRAIGHT if straight else HIGH_CARD
    if not straight:
        return FLUSH
    return ROYAL_FLUSH if ranks == 0x1F00 else STRAIGHT_FLUSH


@kernel
def line_points(line: Line, scores: Scores) -> int:
    """Current points of a line."""
    return int(np.int64(scores[line_category(line)]))


@kernel
def sum_lines(states: Records, scores: Scores, finished_only: bool) -> NDArray[np.float32]:
    """[G, 1] sum of the current scores of the ten lines; with `finished_only`, 0 for games in progress."""
    values = np.zeros((states.shape[0], 1), dtype=np.float32)
    for g in range(states.shape[0]):
        if finished_only and states[g]["turn"] < NUM_CELLS:
            continue
        total = 0
        for line in range(NUM_LINES):
            total += line_points(scan_line(states[g]["grid"], line), scores)
        values[g, 0] = total
    return values


def card_holders(states: Records) -> NDArray[np.int8]:
    """[G, 52] 0 for the cards on the grid and the face-up card, -1 for the others."""
    hidden = np.arange(NUM_CELLS) > states["turn"][:, None]
    shown = np.concatenate([states["grid"], np.where(hidden, UNKNOWN, states["deck"])], axis=1)
    holders = np.full((len(states), NUM_CARDS + 1), -1, dtype=np.int8)
    np.put_along_axis(holders, shown.astype(np.intp), 0, axis=1)  # UNKNOWN is the last column
    return holders[:, :NUM_CARDS]


@kernel
def line_categories(states: Records) -> NDArray[np.int8]:
    """[G, 10] current category of each line."""
    categories = np.empty((states.shape[0], NUM_LINES), dtype=np.int8)
    for g in range(states.shape[0]):
        for line in range(NUM_LINES):
            categories[g, line] = line_category(scan_line(states[g]["grid"], line))
    return categories


@kernel
def hide(states: Records) -> None:
    """Hide the cards after the face-up card."""
    for g in range(states.shape[0]):
        state = states[g]
        for index in range(state["turn"] + 1, NUM_CELLS):
            state["deck"][index] = -1


@kernel
def fill(states: Records, seeds: NDArray[np.uint64]) -> None:
    """Draw every unknown future card uniformly from the unseen cards, seeded by seeds[g]."""
    unseen = np.empty(NUM_CARDS, dtype=np.int8)
    for g in range(states.shape[0]):
        state = states[g]
        count = list_unseen(unseen, state["grid"], state["deck"])
        shuffle(unseen, count, seeds[g])
        for index in range(state["turn"], NUM_CELLS):
            if state["deck"][index] < 0:
                count -= 1
                state["deck"][index] = unseen[count]


S = TypeVar("S", States, InfoStates)


def transform(states: S, rng: np.random.Generator) -> tuple[S, Actions]:
    """An equivalent form of each state [G], drawn uniformly, and the action [G, 25] that each action is mapped to."""

    def orders(size: int) -> Cards:
        return rng.permuted(np.tile(np.arange(size, dtype=np.int8), (len(states), 1)), axis=1)

    row, column = orders(SIDE)[:, :, None].astype(np.int16), orders(SIDE)[:, None, :].astype(np.int16)
    transposed = (rng.random(len(states)) < 0.5)[:, None, None]
    suits = orders(NUM_SUITS)
    cells = np.where(transposed, SIDE * column + row, SIDE * row + column).reshape(-1, NUM_CELLS)

    def with_new_suits(cards: Cards) -> Cards:
        renamed = (cards >> 2 << 2) + np.take_along_axis(suits, cards.astype(np.intp) & 3, axis=1)
        return np.where(cards < 0, cards, renamed)

    moved = states.copy()
    np.put_along_axis(moved["grid"], cells.astype(np.intp), with_new_suits(states["grid"]), axis=1)
    moved["deck"] = with_new_suits(states["deck"])
    return moved, cells
