"""State record of Open-face Chinese Poker for two players, and the kernels of its rules.

Decision n places the card deck[n]: player 0 decides 0 to 4, player 1 decides 5 to 9, then they alternate. Players see
every face-up card, so the record holds only the placements and the order of the deck.
"""

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, UNKNOWN, cards_once
from cardlab.games.cards.hands import CARD_KEYS, Strengths
from cardlab.games.open_face.royalties import row_rank, royalty
from cardlab.games.protocol import NO_PLAYER, Actions, AnyStates, Bools
from cardlab.games.record_arrays import as_bytes, put, take

FRONT, MIDDLE, BACK = 0, 1, 2
ROW_NAMES = ("front", "middle", "back")
NUM_ROWS = 3
NUM_OPENING = 5  # cards that a player sees before placing them
NUM_SLOTS = 13
NUM_DEALT = 2 * NUM_SLOTS
FOUL = 6  # points paid by a fouled board: three rows and the scoop

STATE = np.dtype(
    [
        ("keys", np.int32, (2, NUM_ROWS)),  # sum of CARD_KEYS of each row
        ("ranks", np.int32, (2, NUM_ROWS)),  # of complete rows (royalties.py), else 0
        ("scores", np.int16, (2,)),  # 0 until the game is over
        ("deck", np.int8, (NUM_DEALT,)),  # cards in the order of play
        ("rows", np.int8, (NUM_DEALT,)),  # row of each placed card, else UNKNOWN
        ("sizes", np.int8, (2, NUM_ROWS)),
        ("step", np.int8),  # cards placed so far
        ("mover", np.int8),  # player to move; NO_PLAYER when over or if the card is unknown
    ],
    align=True,  # no padding, so that records compare as bytes
)


@kernel
def to_int64(number: Any) -> int:
    """Convert a record's int8 to int32 to 64 bits: one compiled callee for all types, and no overflow."""
    return int(np.int64(number))


@kernel
def capacity(row: int) -> int:
    """Number of cards that a row holds."""
    return 3 if row == 0 else 5


@kernel
def owner(index: int) -> int:
    """The player who places card `index` of the deck."""
    if index < 2 * NUM_OPENING:
        return 0 if index < NUM_OPENING else 1
    return index & 1


@kernel
def num_turned(step: int) -> int:
    """Number of face-up cards of the deck after `step` placements."""
    if step < NUM_OPENING:
        return NUM_OPENING
    if step < 2 * NUM_OPENING:
        return 2 * NUM_OPENING
    return min(step + 1, NUM_DEALT)


@kernel
def is_foul(front: int, middle: int, back: int) -> bool:
    """Whether rows of these ranks are out of order; equal ranks are in order."""
    return back < middle or middle < front


@kernel
def royalty_sum(front: int, middle: int, back: int) -> int:
    """Royalties of a valid board."""
    return royalty(front, 0) + royalty(middle, 1) + royalty(back, 2)


@kernel
def score_boards(mine: NDArray[np.int32], theirs: NDArray[np.int32]) -> int:
    """Points that the board with ranks `mine` [3] wins from the board with ranks `theirs` [3]."""
    foul = is_foul(mine[0], mine[1], mine[2])
    their_foul = is_foul(theirs[0], theirs[1], theirs[2])
    if foul and their_foul:
        return 0
    if foul:
        return -FOUL - royalty_sum(theirs[0], theirs[1], theirs[2])
    if their_foul:
        return FOUL + royalty_sum(mine[0], mine[1], mine[2])
    won = 0
    for row in range(NUM_ROWS):
        won += int(mine[row] > theirs[row]) - int(mine[row] < theirs[row])
    if won in (NUM_ROWS, -NUM_ROWS):  # won in all three
        won *= 2
    return won + royalty_sum(mine[0], mine[1], mine[2]) - royalty_sum(theirs[0], theirs[1], theirs[2])


def deal_records(decks: NDArray[np.int8]) -> NDArray[np.void]:
    """[G] games before the first placement, with the first cards of `decks` [G, 52]."""
    states = np.zeros(len(decks), dtype=STATE)
    states["deck"] = decks[:, :NUM_DEALT]
    states["rows"] = UNKNOWN
    return states


@kernel
def legal_rows(states: AnyStates) -> Bools:
    """[G, 3] rows of the player to move that are not full."""
    actions = np.zeros((states.shape[0], NUM_ROWS), dtype=np.bool_)
    for g in range(states.shape[0]):
        mover = states[g]["mover"]
        if mover >= 0:
            sizes = states[g]["sizes"]
            for row in range(NUM_ROWS):
                actions[g, row] = sizes[mover, row] < capacity(row)
    return actions


@kernel
def place(states: AnyStates, actions: Actions, strength_table: Strengths, front_table: NDArray[np.int32]) -> None:
    """Put the next card into row actions[g], in place; score the boards after the last card.

    The tables are strength_table() and front_table() of games/cards/hands.py.
    """
    for g in range(states.shape[0]):
        state = states[g]
        mover = state["mover"]
        if mover < 0:
            continue
        row = to_int64(actions[g])
        step = to_int64(state["step"])
        state["rows"][step] = row
        state["keys"][mover, row] += CARD_KEYS[state["deck"][step]]
        state["sizes"][mover, row] += 1
        if state["sizes"][mover, row] == capacity(row):
            state["ranks"][mover, row] = row_rank(strength_table, front_table, state["keys"][mover, row], row)
        step += 1
        state["step"] = step
        if step == NUM_DEALT:
            score = score_boards(state["ranks"][0], state["ranks"][1])
            state["scores"][0] = score
            state["scores"][1] = -score
            state["mover"] = NO_PLAYER
        else:
            state["mover"] = owner(step) if state["deck"][step] >= 0 else NO_PLAYER


def are_valid(states: AnyStates, strength_table: Strengths, front_table: NDArray[np.int32]) -> Bools:
    """[G] whether each record can occur: whether its placements lead to it."""
    decks, rows, steps = states["deck"], states["rows"], states["step"]
    placed = np.arange(NUM_DEALT) < steps[:, None]
    fits = np.where(placed, (rows >= 0) & (rows < NUM_ROWS) & (decks >= 0), rows == UNKNOWN).all(axis=1)
    valid = cards_once(decks) & fits & (steps >= 0) & (steps <= NUM_DEALT)
    again = np.zeros(len(states), dtype=STATE)
    again["deck"], again["rows"] = decks, UNKNOWN
    for step in range(NUM_DEALT):
        more = valid & (steps > step)
        part = take(again, more)
        place(cast(AnyStates, part), rows[more, step].astype(np.int16), strength_table, front_table)
        put(again, more, part)
    again["mover"] = np.where(steps == 0, np.where(decks[:, 0] >= 0, 0, NO_PLAYER), again["mover"])
    same = as_bytes(again) == as_bytes(states)
    return valid & same & (again["sizes"] <= np.array([3, 5, 5])).all(axis=(1, 2))


@kernel
def hide(states: AnyStates) -> None:
    """Hide, in place, every card that is not face up."""
    for g in range(states.shape[0]):
        state = states[g]
        for index in range(num_turned(to_int64(state["step"])), NUM_DEALT):
            state["deck"][index] = UNKNOWN


@kernel
def fill(states: AnyStates, orders: NDArray[np.int8]) -> None:
    """Assign to each unknown card of the records [G] the next card of orders[g] that the record lacks."""
    for g in range(states.shape[0]):
        state = states[g]
        seen = np.uint64(0)
        for index in range(NUM_DEALT):
            if state["deck"][index] >= 0:
                seen |= np.uint64(1) << np.uint64(state["deck"][index])
        drawn = 0
        for index in range(NUM_DEALT):
            if state["deck"][index] >= 0:
                continue
            while seen >> np.uint64(orders[g, drawn]) & np.uint64(1):
                drawn += 1
            state["deck"][index] = orders[g, drawn]
            drawn += 1
        if state["step"] < NUM_DEALT:
            state["mover"] = owner(to_int64(state["step"]))


def card_holders(states: AnyStates) -> NDArray[np.int8]:
    """[G, 52] the player who has each face-up card; NO_PLAYER for the cards in the deck."""
    known = states.copy()
    hide(known)
    holders = np.full((len(states), NUM_CARDS + 1), NO_PLAYER, dtype=np.int8)
    owners = np.array([owner(index) for index in range(NUM_DEALT)], dtype=np.int8)
    np.put_along_axis(holders, known["deck"].astype(np.intp), owners[None], axis=1)  # UNKNOWN is the last column
    return holders[:, :NUM_CARDS]
