"""Alpha-beta search with a face-up deck against plain minimax."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.games.cards.hands import hand_size, strength_table
from cardlab.games.five_o.game import FiveO
from cardlab.games.five_o.hand_values import (
    EVAL,
    FAST_EVAL,
    NUM_COUNTS,
    PACK_EXPECT,
    count_unseen,
    draws_left,
    hand_value,
    rank_mask,
)
from cardlab.games.five_o.open_deck_search import MAX_DEPTH, PACK_SPAN, open_deck_values
from cardlab.games.protocol import States
from games.five_o.tables import stopped_at

GAME = FiveO()


def state_value(states: States, player: int, kind: int) -> float:
    """The paper's value of a state for `player`, from the hand values of its columns."""
    state = states[0]
    unseen = np.empty(NUM_COUNTS, dtype=np.int64)
    count_unseen(state, unseen)
    turn = int(state["turn"])
    if turn < 40:  # the next card is still hidden
        card = int(state["deck"][turn])
        unseen[[card >> 2, 13 + (card & 3), 17]] += 1
    values = np.empty((2, 5))
    for side in range(2):
        for column in range(5):
            key, mask = int(state["keys"][side, column]), rank_mask(state, side, column)
            # the next card is still to be drawn
            draws = draws_left(state, side, column) + (turn < 40 and turn & 1 == side)
            values[side, column] = hand_value(kind, strength_table(), key, mask, hand_size(key), unseen, draws)
    own, opposite = values[player], values[1 - player]
    if kind == PACK_EXPECT:
        return float(np.exp(np.tanh(9 * (own - opposite) / PACK_SPAN)).sum())
    return float((np.log(own) - np.log(opposite)).sum())


def minimax(states: States, player: int, depth: int, kind: int) -> float:
    mover = int(GAME.current_player(states)[0])
    if depth == 0 or mover < 0:
        return state_value(states, player, kind)
    values = [value for value in plain_values(states, player, depth, kind) if value is not None]
    return max(values) if mover == player else min(values)


def plain_values(states: States, player: int, depth: int, kind: int) -> list[float | None]:
    values: list[float | None] = []
    for column, legal in enumerate(GAME.legal_actions(states)[0]):
        if not legal:
            values.append(None)
            continue
        after = States(states.copy())
        GAME.apply(after, np.array([column], dtype=np.int16))
        values.append(minimax(after, player, depth - 1, kind))
    return values


@settings(max_examples=25, deadline=None)
@given(st.sampled_from([EVAL, FAST_EVAL, PACK_EXPECT]), st.integers(0, 38), st.integers(1, 4), st.integers(0, 99))
def test_values_are_those_of_plain_minimax(kind: int, turn: int, depth: int, seed: int) -> None:
    states = stopped_at(GAME, turn, 1, seed)
    player = int(GAME.current_player(states)[0])
    plain = plain_values(states, player, depth, kind)
    players = np.array([player], dtype=np.int8)
    values = open_deck_values(states, players, depth, kind, exact=True)[0]
    assert [value if np.isfinite(value) else None for value in values] == [
        value if value is None else pytest.approx(value, abs=1e-9) for value in plain
    ]
    pruned = open_deck_values(states, players, depth, kind, exact=False)[0]
    assert pruned.argmax() == values.argmax()
    assert pruned.max() == values.max()
    assert (pruned >= values).all()


def test_the_deepest_search_gives_values() -> None:
    states = stopped_at(GAME, 7, 3, 0)
    values = open_deck_values(states, GAME.current_player(states), MAX_DEPTH, EVAL, exact=True)
    assert np.array_equal(np.isfinite(values), GAME.legal_actions(states))
