"""Alpha-beta search with a face-up deck against plain minimax."""

from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cardlab.games.five_o.game import FiveO
from cardlab.games.five_o.open_deck_search import COLUMN_ORDER, MAX_DEPTH, open_deck_values
from cardlab.games.five_o.paper_values import EVAL, FAST_EVAL, PACK_EXPECT
from games.five_o import paper_reference
from games.five_o.tables import stopped_at

GAME = FiveO()
KINDS = {"greedy_2": EVAL, "fast_greedy_2": FAST_EVAL, "greedy_1": PACK_EXPECT}


class PlainSearch:
    """Minimax over lists of cards, without pruning."""

    def __init__(self, name: str, state: np.void, player: int, sides: list[int]) -> None:
        self.name, self.player, self.sides = name, player, sides
        self.hands = [[[int(card) for card in column if card >= 0] for column in side] for side in state["columns"]]
        self.turn = int(state["turn"])
        self.deck = [int(card) for card in state["deck"][self.turn :]]
        self.hidden = {
            self.deck[level] for level, side in enumerate(sides) if side != player and self.turn + level >= 30
        }

    def leaf(self) -> float:
        own, opposite = self.hands[self.player], self.hands[1 - self.player]
        seen = {card for hand in own + opposite for card in hand} - self.hidden
        unseen = [card for card in range(52) if card not in seen]
        value = paper_reference.state_value(self.name, own, opposite, unseen, self.turn + len(self.sides))
        is_product = self.name != "greedy_1" and self.turn + len(self.sides) < 40
        return log(value) if is_product else float(value)

    def values(self, level: int = 0) -> list[float | None]:
        hands = self.hands[self.sides[level]]
        room, found = min(map(len, hands)), []
        for hand in hands:
            if len(hand) > room:
                found.append(None)
                continue
            hand.append(self.deck[level])
            found.append(self.value(level + 1))
            hand.pop()
        return found

    def value(self, level: int) -> float:
        if level == len(self.sides):
            return self.leaf()
        values = [value for value in self.values(level) if value is not None]
        return max(values) if self.sides[level] == self.player else min(values)


@pytest.mark.parametrize("twice", [False, True])
@settings(max_examples=12, deadline=None)
@given(st.sampled_from(list(KINDS)), st.integers(0, 29), st.integers(1, 2), st.integers(0, 99))
def test_values_are_those_of_plain_minimax(twice: bool, name: str, turn: int, depth: int, seed: int) -> None:
    states = stopped_at(GAME, turn, 1, seed)
    players = GAME.current_player(states)
    player = int(players[0])
    sides = [player, player, 1 - player][: depth + 1] if twice else [player, 1 - player][:depth]
    plain = PlainSearch(name, states[0], player, sides).values()
    values = open_deck_values(states, players, depth, KINDS[name], exact=True, twice=twice)[0]
    assert [value if np.isfinite(value) else None for value in values] == [
        value if value is None else pytest.approx(value, abs=1e-9) for value in plain
    ]


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("name", list(KINDS))
@pytest.mark.parametrize("depth", [3, 5])
def test_cutoffs_leave_the_best_columns_as_they_are(name: str, depth: int, twice: bool) -> None:
    for turn in (3, 14, 28):
        states = stopped_at(GAME, turn, 20, turn)
        players = GAME.current_player(states)
        values = open_deck_values(states, players, depth, KINDS[name], exact=True, twice=twice)
        pruned = open_deck_values(states, players, depth, KINDS[name], exact=False, twice=twice)
        best = values.max(axis=1, keepdims=True)
        near = values > best - 0.001 + 1e-9
        assert np.array_equal(pruned[near], values[near])
        assert (pruned[~near] <= (best - 0.001 + 1e-9).repeat(5, axis=1)[~near]).all()


def test_the_end_of_the_game_counts_differences_of_strengths() -> None:
    """Eleven cards after turn 29: six of the player, who goes twice first, and five of the opponent."""
    states = stopped_at(GAME, 29, 1, 5)
    players = GAME.current_player(states)
    values = open_deck_values(states, players, MAX_DEPTH, EVAL, exact=True, twice=True)
    assert np.array_equal(np.isfinite(values), GAME.legal_actions(states))
    finite = values[np.isfinite(values)]
    assert (finite >= 5 * np.exp(-1)).all()
    assert (finite <= 5 * np.exp(1)).all()
    states = stopped_at(GAME, 38, 4, 0)
    values = open_deck_values(states, GAME.current_player(states), 2, FAST_EVAL, exact=True)
    for row, state in enumerate(states):
        plain = PlainSearch("fast_greedy_2", state, 0, [0, 1]).values()
        assert [value for value in values[row] if np.isfinite(value)] == pytest.approx(
            [v for v in plain if v is not None]
        )


def test_columns_are_tried_in_the_order_of_the_program() -> None:
    assert tuple(COLUMN_ORDER) == paper_reference.ORDER


def test_the_deepest_search_gives_values() -> None:
    states = stopped_at(GAME, 7, 3, 0)
    values = open_deck_values(states, GAME.current_player(states), MAX_DEPTH, EVAL, exact=True)
    assert np.array_equal(np.isfinite(values), GAME.legal_actions(states))
