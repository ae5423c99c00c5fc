"""Best response in the last round against enumeration of all orders of the opponent's cards."""

from itertools import permutations

import numpy as np
import pytest

from cardlab.games.cards.deck import NUM_CARDS
from cardlab.games.cards.hands import strength_table, strengths
from cardlab.games.five_o.endgame import action_values
from cardlab.games.five_o.game import FiveO
from cardlab.games.five_o.last_round.opponent_model import (
    compare_columns,
    opponent_position_values,
    sample_hidden_cards,
)
from games.five_o.tables import stopped_at, to_move

NONE = -1


def last_cards(state):
    """The twelve cards that are not face up, ascending."""
    seen = set(state["columns"][:, :, :4].ravel().tolist())
    return np.array([card for card in range(NUM_CARDS) if card not in seen], dtype=np.int8)


def compared(state, player):
    return compare_columns(strength_table(), state, player, last_cards(state))


def filled_by(opponent_values, draws):
    """[5] card of each column when the opponent draws `draws`, and the columns in the order of filling."""
    columns, order, code = [NONE] * 5, [], 0
    for card in draws:
        column_values = [
            opponent_values[code + (card + 1) * 13**c] if columns[c] == NONE else -np.inf for c in range(5)
        ]
        best = int(np.argmax(column_values))
        columns[best] = card
        order.append(best)
        code += (card + 1) * 13**best
    return columns, order


def ends_by_order(state, player, opponent_values):
    """Final cards of the opponent's columns, one for each order of draws that fills the observed columns."""
    cards = last_cards(state).tolist()
    own = {*state["columns"][player, :, 4].tolist(), int(state["deck"][state["turn"]])} - {NONE}
    filled = {c for c in range(5) if state["sizes"][1 - player, c] == 5}
    ends = []
    for draws in permutations([cards.index(card) for card in cards if card not in own], 5):
        columns, order = filled_by(opponent_values, draws)
        if set(order[: len(filled)]) == filled:
            ends.append(columns)
    return np.array(ends)


def value_over(signs, ends, own, free, payoff):
    """Expected payoff with cards `own` [5] in the columns, empty columns filled optimally from `free`."""
    left = [column for column in range(5) if own[column] == NONE]
    if not left:
        found = signs[np.arange(5), own, ends]
        if payoff == "columns":
            return float(found.sum(axis=1).mean()) / 5
        return float(((found > 0).sum(axis=1) >= 3).mean() - ((found < 0).sum(axis=1) >= 3).mean())
    total = cases = 0.0
    for card in free:
        those = ends[(ends != card).all(axis=1)]
        if len(those):
            rest = [other for other in free if other != card]
            values = [value_over(signs, those, [*own[:c], card, *own[c + 1 :]], rest, payoff) for c in left]
            total += len(those) * max(values)
            cases += len(those)
    return total / cases


@pytest.mark.parametrize(
    ("payoff", "turn", "tables", "least"),
    [("win", 36, 4, 2), ("win", 37, 12, 3), ("win", 38, 12, 3), ("win", 39, 12, 3), ("columns", 37, 12, 3)],
)
def test_values_are_means_over_all_orders_in_which_the_opponent_may_have_drawn(payoff, turn, tables, least):
    game = FiveO(payoff=payoff)
    known, players = to_move(game, stopped_at(game, turn, tables, turn))
    values = action_values(known, players, np.random.default_rng(0), 64, game.spec.options)
    compared_rows = 0
    for state, player, row in zip(known, players, values, strict=True):
        cards, signs = last_cards(state).tolist(), compared(state, player)
        ends = ends_by_order(state, player, opponent_position_values(signs, by_columns=payoff == "columns"))
        if (
            len(ends) < 100
        ):  # the opponent has not played by the opponent_values: its columns are filled at random instead
            continue
        own = [cards.index(card) if card >= 0 else NONE for card in state["columns"][player, :, 4].tolist()]
        card = cards.index(int(state["deck"][state["turn"]]))
        for column in np.flatnonzero(np.isfinite(row)):
            mine = [*own[:column], card, *own[column + 1 :]]
            free = [index for index in range(12) if index not in mine]
            assert row[column] == pytest.approx(value_over(signs, ends, mine, free, payoff), abs=0.06)
        compared_rows += 1
    assert compared_rows >= least


@pytest.mark.parametrize("payoff", ["win", "columns"])
def test_opponent_values_match_random_order_values(payoff):
    """For the first placement of the round the values equal those of random_order.py up to equation (3)."""
    game = FiveO(payoff=payoff)
    known, players = to_move(game, stopped_at(game, 30, 2, 5))
    values = action_values(known, players, np.random.default_rng(0), 0, game.spec.options)
    for state, player, row in zip(known, players, values, strict=True):
        opponent_values = opponent_position_values(compared(state, 1 - player), by_columns=payoff == "columns")
        card = last_cards(state).tolist().index(int(state["deck"][30]))
        assert [opponent_values[(card + 1) * 13**column] for column in range(5)] == pytest.approx(
            row.tolist(), abs=0.03
        )


def test_samples_are_possible_cards_of_the_opponent():
    game = FiveO()
    known, players = to_move(game, stopped_at(game, 33, 6, 1))
    for state, player in zip(known, players, strict=True):
        mine = 0b1010
        hidden = np.full((40, 5), NONE)
        opponent_values = opponent_position_values(compared(state, player), by_columns=False)
        found = sample_hidden_cards(opponent_values, mine, 0, 12, np.uint64(3), hidden)
        assert found == 40
        assert all(len(set(row.tolist())) == 5 for row in hidden[:found])
        assert not set(hidden[:found].ravel().tolist()) & {1, 3}
        again = hidden.copy()
        sample_hidden_cards(opponent_values, mine, 0, 12, np.uint64(3), again)
        assert np.array_equal(hidden[:found], again[:found])


def test_it_does_not_value_positions_too_highly():
    """What the two players expect of one game adds up to nothing; each takes the other for careless with 0 samples."""
    game = FiveO()
    states = stopped_at(game, 30, 12, 2)
    sums = {}
    for samples in (0, 16):
        total = np.zeros(len(states))
        playing = states.copy()
        for _ in range(2):
            known, players = to_move(game, playing)
            values = action_values(known, players, np.random.default_rng(1), samples)
            total += values.max(axis=1)
            game.apply(playing, values.argmax(axis=1).astype(np.int16))
        sums[samples] = total.mean()
    assert abs(sums[16]) < 0.15
    assert sums[0] > 0.5


def test_strengths_are_compared_card_by_card():
    game = FiveO()
    known, players = to_move(game, stopped_at(game, 30, 3, 4))
    for state, player in zip(known, players, strict=True):
        signs, cards = compared(state, player), last_cards(state)
        for column in range(5):
            own, other = (
                strengths(np.array([[*state["columns"][side, column, :4], card] for card in cards])).astype(int)
                for side in (player, 1 - player)
            )
            assert np.array_equal(signs[column], np.sign(own[:, None] - other[None, :]))
