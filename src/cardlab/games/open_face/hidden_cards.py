"""Hiding the cards that are not face up, and sampling them."""

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.cards.deck import NUM_CARDS, UNKNOWN
from cardlab.games.open_face.rules import NUM_DEALT, num_turned, owner, to_int64
from cardlab.games.protocol import NO_PLAYER, AnyStates


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
