"""Exact values of the last round against enumeration of all orders of the unseen cards."""

from itertools import permutations

import numpy as np
import pytest

from cardlab.agents.registry import make_agent
from cardlab.games.cards.deck import NUM_CARDS
from cardlab.games.cards.hands import strengths
from cardlab.games.five_o.endgame import action_values, solvable
from cardlab.games.five_o.game import FiveO
from cardlab.games.five_o.last_round.random_order import sum_payoff_signs
from cardlab.games.protocol import InfoStates, Players
from games.five_o.tables import stopped_at, to_move

RNG = np.random.default_rng(0)


def known_cards(state, player):
    """Own columns, known cards of the opponent's columns, the card to place, the unseen cards."""
    own, opposite = ([[int(card) for card in column if card >= 0] for column in state["columns"][side]]
                     for side in (player, 1 - player))  # fmt: skip
    card = int(state["deck"][int(state["turn"])])
    seen = {card for column in own + opposite for card in column} | {card}
    return own, opposite, card, [card for card in range(NUM_CARDS) if card not in seen]


def mean_payoff(own, opposite, unseen, by_columns):
    """Mean over all orders in which five opposite columns take one unseen card each."""
    mine = strengths(np.array(own))
    theirs = np.array([strengths(np.array([[*column, card] for card in unseen])) for column in opposite])
    orders = np.array(list(permutations(range(len(unseen)), 5)))
    signs = np.sign(mine[:, None].astype(int) - theirs[np.arange(5)[:, None], orders.T])
    if by_columns:
        return float(signs.sum(axis=0).mean()) / 5
    return float(((signs > 0).sum(axis=0) >= 3).mean() - ((signs < 0).sum(axis=0) >= 3).mean())


def value_of(own, opposite, card, unseen, by_columns):
    """[5] expected payoff of each column for `card`, None for full columns."""
    values = []
    for column in range(5):
        if len(own[column]) == 5:
            values.append(None)
            continue
        placed = [*own[:column], [*own[column], card], *own[column + 1 :]]
        if all(len(one) == 5 for one in placed):
            values.append(mean_payoff(placed, opposite, unseen, by_columns))
            continue
        best = [
            max(value for value in value_of(placed, opposite, drawn, rest, by_columns) if value is not None)
            for drawn in unseen
            for rest in [[other for other in unseen if other != drawn]]
        ]
        values.append(sum(best) / len(best))
    return values


@pytest.mark.parametrize("payoff", ["win", "columns"])
@pytest.mark.parametrize(("turn", "tables"), [(39, 6), (38, 6), (37, 6), (36, 6), (35, 1)])
def test_values_are_those_of_all_orders(payoff: str, turn: int, tables: int) -> None:
    game = FiveO(payoff=payoff)
    known, players = to_move(game, stopped_at(game, turn, tables, 3))
    values = action_values(known, players, RNG, 0, game.spec.options)
    for g in range(tables):
        plain = value_of(*known_cards(known[g], players[g]), payoff == "columns")
        assert [value if np.isfinite(value) else None for value in values[g]] == [
            value if value is None else pytest.approx(value, abs=1e-6) for value in plain
        ]


def next_decision(game: FiveO, known: InfoStates, players: Players, action: int) -> tuple[InfoStates, Players]:
    """Next decisions of the player after `action` and any reply, one for each card that can be drawn."""
    after = InfoStates(known.copy())
    game.apply(after, np.array([action], dtype=np.int16))
    opposite = np.flatnonzero(game.legal_actions(after)[0])[:1].astype(np.int16)
    game.apply(after, opposite)
    unseen = known_cards(after[0], players[0])[3]
    many = InfoStates(np.repeat(after, len(unseen)))
    for row, card in enumerate(unseen):
        many[row]["deck"][many[row]["turn"]] = card
    return many, np.repeat(players, len(unseen))


@pytest.mark.parametrize("turn", [30, 31, 32, 33])
def test_a_value_is_the_mean_of_the_best_that_may_follow(turn: int) -> None:
    game = FiveO()
    known, players = to_move(game, stopped_at(game, turn, 1, turn))
    values = action_values(known, players, RNG, 0)
    for action in range(5 if turn > 31 else 1):
        if game.legal_actions(known)[0, action]:
            many, movers = next_decision(game, known, players, action)
            later = action_values(many, movers, RNG, 0).max(axis=1)
            assert values[0, action] == pytest.approx(later.mean(), abs=1e-6)


def test_solvable_is_the_hidden_last_round() -> None:
    for turn, hidden_round, expected in [(29, 5, False), (30, 5, True), (39, 5, True), (35, 4, False)]:
        game = FiveO(hidden_round=hidden_round)
        known, players = to_move(game, stopped_at(game, turn, 3, 0))
        assert (solvable(known, players, game.spec.options) == expected).all()
        assert not solvable(known, np.int8(1) - players, game.spec.options).any()
        values = action_values(known, players, RNG, 0, game.spec.options)
        assert np.array_equal(np.isfinite(values), game.legal_actions(known) & expected)


def test_searches_run_before_the_endgame() -> None:
    game = FiveO(hidden_round=4)
    known, players = to_move(game, stopped_at(game, 33, 3, 0))
    agent = make_agent(game, "monte_carlo:simulations:20:endgame:true")
    actions = agent.act(known, players, np.random.default_rng(0))
    assert game.legal_actions(known)[np.arange(3), actions].all()


def test_signs_are_summed_over_all_ways() -> None:
    rng = np.random.default_rng(1)
    for size in range(6):
        wins = rng.integers(0, 128, size)
        losses = rng.integers(0, 128, size) & ~wins
        for won, lost in [(0, 0), (1, 1), (2, 0), (0, 2), (3, 0)][: 1 if size > 3 else 5 if size < 3 else 4]:
            total = 0
            for order in permutations(range(7), size):
                num_won = won + sum(int(wins[c]) >> card & 1 for c, card in enumerate(order))
                num_lost = lost + sum(int(losses[c]) >> card & 1 for c, card in enumerate(order))
                total += 1 if num_won >= 3 else -1 if num_lost >= 3 else 0
            assert sum_payoff_signs(wins, losses, 127, won, lost) == total
