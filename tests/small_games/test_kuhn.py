"""The small games themselves: known values of Kuhn poker, and what both must hold to be a `Game`."""

import numpy as np
import pytest

from cardlab.agents.exploration import RandomAgent
from cardlab.games.loop import play, play_out
from cardlab.games.protocol import Game
from small_games.high_card import HighCard
from small_games.kuhn import OPEN, SHOWDOWN, Kuhn, best_response, expected_value, line_of, uniform_policy

GAMES = [Kuhn(), HighCard(1), HighCard(2), HighCard(4), HighCard(9)]


def equilibrium(alpha):
    """Kuhn's family of equilibria; its value for player 0 is −1/18 (Kuhn 1950)."""
    bets = {(0, ""): alpha, (1, ""): 0, (2, ""): 3 * alpha, (0, "pb"): 0, (1, "pb"): alpha + 1 / 3, (2, "pb"): 1}
    answers = {(0, "p"): 1 / 3, (1, "p"): 0, (2, "p"): 1, (0, "b"): 0, (1, "b"): 1 / 3, (2, "b"): 1}
    return bets, answers


@pytest.mark.parametrize("alpha", [0, 1 / 6, 1 / 3])
def test_equilibria_cannot_be_beaten(alpha):
    first, second = equilibrium(alpha)
    assert expected_value((first, second)) == pytest.approx(-1 / 18)
    assert best_response(second, player=0)[1] == pytest.approx(-1 / 18)
    assert best_response(first, player=1)[1] == pytest.approx(1 / 18)


def test_the_best_response_to_uniform_beats_every_other_policy():
    rng = np.random.default_rng(0)
    for player in (0, 1):
        policy, value = best_response(uniform_policy(), player)
        pair = (policy, uniform_policy()) if player == 0 else (uniform_policy(), policy)
        assert expected_value(pair) == pytest.approx(value if player == 0 else -value)
        for _ in range(100):
            other = {(card, line): rng.random() for card in range(3) for line in OPEN}
            pair = (other, uniform_policy()) if player == 0 else (uniform_policy(), other)
            assert expected_value(pair) * (1 - 2 * player) <= value + 1e-9


def test_random_play_of_kuhn_pays_what_enumeration_says():
    game = Kuhn()
    rng = np.random.default_rng(1)
    states = game.deal(4_000, rng)
    play_out(game, states, [RandomAgent(game)], rng)
    paid = game.payoffs(states)[:, 0]
    truth = expected_value((uniform_policy(), uniform_policy()))
    assert abs(paid.mean() - truth) < 4 * paid.std() / np.sqrt(len(paid))


def test_a_showdown_is_unresolved_for_one_who_sees_one_card():
    game = Kuhn()
    rng = np.random.default_rng(2)
    seen = set()
    for step in play(game, game.deal(200, rng), [RandomAgent(game)], rng):
        after = step.info_states.copy()
        game.apply(after, step.actions)
        for info_state, over in zip(after, step.over, strict=True):
            if over:
                seen.add(line_of(info_state))
                known = game.is_over(info_state.reshape(1))[0]
                assert known == (line_of(info_state) not in SHOWDOWN)
    assert len(seen) == 5


@pytest.mark.parametrize("game", GAMES, ids=lambda game: f"{game.spec.name}_{game.spec.num_players}")
def test_small_games_are_games(game):
    assert isinstance(game, Game)
    rng = np.random.default_rng(3)
    states = game.deal(50, rng)
    for step in play(game, states, [RandomAgent(game)], rng):
        again = game.information(game.determinize(step.info_states, step.players, rng), step.players)
        assert again.tobytes() == step.info_states.tobytes()
        assert game.observe(step.info_states, step.players).shape == (len(step.rows), game.spec.num_features)
    assert game.is_over(states).all()
    payoffs = game.payoffs(states)
    assert payoffs.shape == (50, game.spec.num_players)
    if game.spec.zero_sum:
        assert payoffs.sum(axis=1) == pytest.approx(np.zeros(50), abs=1e-6)
