"""Sampled successors: what they may be, what they leave alone, and that their average is Bellman's expectation."""

import numpy as np
import pytest

from cardlab.agents.random import RandomAgent
from cardlab.experience.successors import sample_successors
from cardlab.games.catalogue import make_game
from cardlab.games.protocol import InfoStates
from cardlab.playing.loop import play, sole_actions
from small_games.kuhn import BET, Kuhn

GAMES = [
    make_game("open_face"),
    make_game("big2"),
    make_game("five_o"),
    make_game("poker_squares"),
    make_game("thirty_one", num_players=3, play="round", reward="shaped"),
]


def decisions(game, steps, num=40, seed=5):
    """Info states, players and random actions after `steps` moves."""
    rng = np.random.default_rng(seed)
    states = game.deal(num, rng)
    for _, moves in zip(range(steps), play(game, states, [RandomAgent(game)], rng, ask_forced=True), strict=False):
        last = moves
    return last.info_states, last.players, last.actions


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.spec.name)
@pytest.mark.parametrize("steps", [1, 6, 20])
def test_successors_are_own_decisions_or_ends(game, steps):
    info_states, players, actions = decisions(game, steps)
    kept = info_states.tobytes()
    rng = np.random.default_rng(1)
    after = sample_successors(game, info_states, players, actions, RandomAgent(game), num_samples=3, rng=rng)
    assert info_states.tobytes() == kept
    assert after.players.tolist() == np.repeat(players, 3).tolist()
    current = game.current_player(after.info_states)
    assert (current[~after.over] == after.players[~after.over]).all()
    legal = game.legal_actions(after.info_states)
    assert (sole_actions(legal[~after.over]) < 0).all(), "a choice of one is passed over"
    assert not legal[after.over].any()


def test_chance_is_sampled_anew():
    game = make_game("open_face")
    info_states, players, actions = decisions(game, 12, num=1)
    after = sample_successors(
        game, info_states, players, actions, RandomAgent(game), num_samples=50, rng=np.random.default_rng(2)
    )
    assert len({record.tobytes() for record in after.info_states}) > 30


def test_the_mean_reward_is_the_expectation():
    """Kuhn: betting first with the queen against the uniform player: half fold (+1), half call and win or lose 2."""
    game = Kuhn()
    deck = np.array([[1, 0, *range(2, 52)]], dtype=np.int8)
    states = game.deal(1, np.random.default_rng(0), deck)
    players = np.zeros(1, dtype=np.int8)
    info_states = game.information(states, players)
    after = sample_successors(
        game,
        InfoStates(info_states),
        players,
        np.array([BET], dtype=np.int16),
        RandomAgent(game),
        num_samples=20_000,
        rng=np.random.default_rng(3),
    )
    assert after.over.all()
    assert after.rewards.mean() == pytest.approx(0.5, abs=0.04)
    assert set(after.rewards.tolist()) == {-2.0, 1.0, 2.0}
