"""Best response in the last round against enumeration of all orders of the opponent's cards."""

from itertools import permutations

import numpy as np
import pytest

from cardlab.agents.registry import make_agent
from cardlab.games.cards.deck import NUM_CARDS
from cardlab.games.cards.hands import strength_table, strengths
from cardlab.games.five_o.endgame import action_values, solvable
from cardlab.games.five_o.game import FiveO
from cardlab.games.five_o.opponent_model import (
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


def value_over(
    signs,
    ends,
    own,
    free,
):
    """Expected payoff with cards `own` [5] in the columns, empty columns filled optimally from `free`."""
    left = [column for column in range(5) if own[column] == NONE]
    if not left:
        found = signs[np.arange(5), own, ends]
        return float(((found > 0).sum(axis=1) >= 3).mean() - ((found < 0).sum(axis=1) >= 3).mean())
    total = cases = 0.0
    for card in free:
        those = ends[(ends != card).all(axis=1)]
        if len(those):
            rest = [other for other in free if other != card]
            values = [value_over(signs, those, [*own[:c], card, *own[c + 1 :]], rest) for c in left]
            total += len(those) * max(values)
            cases += len(those)
    return total / cases


@pytest.mark.parametrize(("turn", "tables", "least"), [(36, 4, 2), (37, 12, 3), (38, 12, 3), (39, 12, 3)])
def test_values_are_means_over_all_orders_in_which_the_opponent_may_have_drawn(turn, tables, least):
    game = FiveO()
    known, players = to_move(game, stopped_at(game, turn, tables, turn))
    values = action_values(known, players, np.random.default_rng(0), 64, game.spec.options)
    compared_rows = 0
    for state, player, row in zip(known, players, values, strict=True):
        cards, signs = last_cards(state).tolist(), compared(state, player)
        ends = ends_by_order(state, player, opponent_position_values(signs))
        if len(ends) < 100:  # few orders fill the observed columns: random hands are sampled instead
            continue
        own = [cards.index(card) if card >= 0 else NONE for card in state["columns"][player, :, 4].tolist()]
        card = cards.index(int(state["deck"][state["turn"]]))
        for column in np.flatnonzero(np.isfinite(row)):
            mine = [*own[:column], card, *own[column + 1 :]]
            free = [index for index in range(12) if index not in mine]
            assert row[column] == pytest.approx(value_over(signs, ends, mine, free), abs=0.06)
        compared_rows += 1
    assert compared_rows >= least


def test_the_opponent_places_its_draws_optimally():
    """A position is worth the mean of the best that may follow, a complete one nearly the mean over all orders."""
    game, rng = FiveO(), np.random.default_rng(0)
    (state,), (player,) = to_move(game, stopped_at(game, 30, 1, 5))
    signs = compared(state, player)
    values = opponent_position_values(signs)
    strides = 13 ** np.arange(5)
    for filled in range(1, 6):
        held = rng.permutation(12)[:filled]
        position = int((held + 1) @ strides[:filled])
        free = [card for card in range(12) if card not in held]
        if filled < 5:
            best = [max(values[position + (card + 1) * strides[c]] for c in range(filled, 5)) for card in free]
            assert values[position] == pytest.approx(np.mean(best))
        else:
            found = signs[np.arange(5), np.array(list(permutations(free, 5))), held]  # of the player
            mean = ((found < 0).sum(axis=1) >= 3).mean() - ((found > 0).sum(axis=1) >= 3).mean()
            assert values[position] == pytest.approx(mean, abs=0.03)


def test_samples_are_possible_cards_of_the_opponent():
    game = FiveO()
    known, players = to_move(game, stopped_at(game, 33, 6, 1))
    for state, player in zip(known, players, strict=True):
        mine = 0b1010
        hidden = np.full((40, 5), NONE)
        opponent_values = opponent_position_values(compared(state, player))
        found = sample_hidden_cards(opponent_values, mine, 0, 12, np.uint64(3), hidden)
        assert found == 40
        assert all(len(set(row.tolist())) == 5 for row in hidden[:found])
        assert not set(hidden[:found].ravel().tolist()) & {1, 3}
        again = hidden.copy()
        sample_hidden_cards(opponent_values, mine, 0, 12, np.uint64(3), again)
        assert np.array_equal(hidden[:found], again[:found])


def test_it_does_not_value_positions_too_highly():
    """The expectations of the two players of one game sum to about zero."""
    game = FiveO()
    playing = stopped_at(game, 30, 12, 2)
    total = np.zeros(len(playing))
    for _ in range(2):
        known, players = to_move(game, playing)
        values = action_values(known, players, np.random.default_rng(1), 16)
        total += values.max(axis=1)
        game.apply(playing, values.argmax(axis=1).astype(np.int16))
    assert abs(total.mean()) < 0.15


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


def test_solvable_is_the_hidden_last_round() -> None:
    for turn, hidden_round, expected in [(29, 5, False), (30, 5, True), (39, 5, True), (35, 4, False)]:
        game = FiveO(hidden_round=hidden_round)
        known, players = to_move(game, stopped_at(game, turn, 3, 0))
        assert (solvable(known, players, game.spec.options) == expected).all()
        assert not solvable(known, np.int8(1) - players, game.spec.options).any()
        values = action_values(known, players, np.random.default_rng(0), 2, game.spec.options)
        assert np.array_equal(np.isfinite(values), game.legal_actions(known) & expected)


def test_searches_run_before_the_endgame() -> None:
    game = FiveO(hidden_round=4)
    known, players = to_move(game, stopped_at(game, 33, 3, 0))
    agent = make_agent(game, "monte_carlo:simulations:20:endgame:true")
    actions = agent.act(known, players, np.random.default_rng(0))
    assert game.legal_actions(known)[np.arange(3), actions].all()
