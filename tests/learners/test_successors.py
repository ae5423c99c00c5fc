"""Sampled successors: what they may be, what they leave alone, and that their average is Bellman's expectation."""

from dataclasses import replace

import numpy as np
import pytest

from cardlab.agents.exploration import RandomAgent
from cardlab.games.legality import forced_moves
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.games.protocol import InfoStates
from cardlab.learners.rollouts.opponents.fixed import SelfPlayOptions
from cardlab.learners.rollouts.sampled_successors import sample_successors
from cardlab.training.training_process import build_learner
from learners.kuhn_training import kuhn_experiment
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
    assert (forced_moves(legal[~after.over]) < 0).all(), "a choice of one is passed over"
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


def exact_worth(game, agent, info_state, player, action, gamma):
    """B of one decision in Kuhn poker: the mean over both cards that the other may hold, who plays as `agent` does."""
    worths = []
    for card in {0, 1, 2} - {int(info_state["cards"][player])}:
        states = np.array([info_state])
        states["cards"][0, 1 - player] = card
        before = game.payoffs(states)[0, player]
        game.apply(states, np.array([action], dtype=np.int16))
        while game.current_player(states)[0] == 1 - player:
            other = game.current_player(states)
            game.apply(states, agent.act(game.information(states, other), other, None))
        worth = game.payoffs(states)[0, player] - before
        if not game.is_over(states)[0]:
            mover = game.current_player(states)
            worth += gamma * agent.action_values(game.information(states, mover), mover).max()
        worths.append(worth)
    return sum(worths) / len(worths)


@pytest.mark.slow
def test_averaged_worths_approach_the_exact_mean():
    experiment = kuhn_experiment("td_averaged")
    options = replace(experiment.agent, successors=1000, epsilon=0.0, gamma=0.9, reward_scale=2.0)
    learner, collector = build_learner(replace(experiment, agent=options))
    experience = collector.collect(60)
    found = learner._successor_values(experience)
    agent, game = learner.behaviour_agent(), learner.game
    rows = zip(experience.info_states, experience.players, experience.actions, strict=True)
    wanted = [exact_worth(game, agent, *row, options.gamma) / options.reward_scale for row in rows]
    assert np.std(wanted) > 0.2
    assert np.abs(found - wanted).max() < 0.15
    assert np.abs(np.mean(found - wanted)) < 0.02


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.spec.name)
def test_every_game_can_be_averaged(game):
    experiment = kuhn_experiment("td_averaged")
    agent = replace(experiment.agent, td_lambda=0.5, successors=3, epsilon=0.1)
    options = SelfPlayOptions()
    learner, collector = build_learner(replace(experiment, game=game, agent=agent, opponents=options))
    experience = collector.collect(40)
    worths = learner._successor_values(experience)
    assert worths.shape == experience.rewards.shape
    assert np.isfinite(worths).all()
