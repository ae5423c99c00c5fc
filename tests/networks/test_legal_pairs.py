"""Scores of legal actions only equal the scores among all actions, for every network and game."""

import multiprocessing

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.network_agents import SoftmaxAgent, best_place, sample_place
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.learners.ppo.loss import clipped_surrogate, mean_entropy
from cardlab.networks.abstract_actions_options import AbstractActionsOptions
from cardlab.networks.actions_options import ActionsOptions
from cardlab.networks.inputs import game_pairs, legal_pairs
from cardlab.networks.layers import mask_scores
from cardlab.networks.lines_options import LinesOptions
from cardlab.networks.mlp_options import MLPOptions
from cardlab.networks.proto_action_options import ProtoActionOptions
from cardlab.networks.protocol import encode_for, encode_legal_for
from cardlab.networks.trunks_options import TrunksOptions

NETWORKS = [
    ("big2", MLPOptions(widths=(32,), head_widths=(16,))),
    ("big2", MLPOptions(widths=(32,), separate_critic=True)),
    ("big2", ActionsOptions(state_widths=(32,), action_widths=(16,), joint_widths=(8,))),
    ("big2", ProtoActionOptions(neighbors=3, state_widths=(32,), action_widths=(16,), joint_widths=(8,))),
    ("big2", AbstractActionsOptions(widths=(32,))),
    ("five_o", MLPOptions(widths=(32,))),
    ("five_o", LinesOptions(line_widths=(16,), context_widths=(16,))),
    ("thirty_one", TrunksOptions(widths=(32,))),
]


def decisions(game, steps=7, num_games=64):
    """InfoStates and players of decisions in the middle of games."""
    rng = np.random.default_rng(1)
    moves = play(game, game.deal(num_games, rng), [RandomAgent(game)], rng, ask_forced=True)
    for _ in range(steps):
        move = next(moves)
    return move.info_states, move.players


@given(arrays.arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 70))))
def test_pairs_are_the_legal_actions_in_order(legal):
    legal[:, 0] |= ~legal.any(axis=1)
    pairs = legal_pairs(legal)
    rows, actions = np.nonzero(legal)
    np.testing.assert_array_equal(pairs.rows, rows)
    np.testing.assert_array_equal(pairs.actions, actions)
    np.testing.assert_array_equal(pairs.starts, np.searchsorted(rows, np.arange(len(legal) + 1)))
    np.testing.assert_array_equal(pairs.mask(), legal)


@given(arrays.arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 70))), st.floats(0.01, 1000))
def test_log_probabilities_equal_those_of_masked_scores(legal, spread):
    legal[:, 0] |= ~legal.any(axis=1)
    pairs = legal_pairs(legal)
    scores = torch.linspace(-spread, spread, legal.size).reshape(legal.shape)
    dense = mask_scores(scores, torch.from_numpy(legal)).log_softmax(dim=-1)
    alone = pairs.log_softmax(scores[pairs.rows, pairs.actions])
    torch.testing.assert_close(alone, dense[pairs.rows, pairs.actions], rtol=1e-4, atol=1e-4)


@given(arrays.arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 70))), st.integers(0, 99))
def test_samples_are_legal_and_the_best_is_the_first_maximum(legal, seed):
    legal[:, 0] |= ~legal.any(axis=1)
    pairs = legal_pairs(legal)
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=len(pairs.rows)) * 2).astype(np.float32)  # with ties
    dense = np.where(legal, 0, -np.inf)
    dense[legal] = scores
    here, best = np.arange(len(legal)), best_place(scores, pairs.starts.numpy())
    np.testing.assert_array_equal(pairs.rows[best], here)
    np.testing.assert_array_equal(pairs.actions[best], dense.argmax(axis=1))
    chances = pairs.log_softmax(torch.from_numpy(scores)).numpy()
    drawn = sample_place(chances, pairs.starts.numpy(), rng.random(len(legal), dtype=np.float32))
    np.testing.assert_array_equal(pairs.rows[drawn], here)


def test_samples_follow_the_probabilities():
    chances = np.log(np.array([1.0, 0.1, 0.2, 0.7, 0.0, 1.0], dtype=np.float32) + 1e-30)
    starts = np.array([0, 1, 4, 6])
    rng, counts = np.random.default_rng(1), np.zeros(6)
    for _ in range(4000):
        counts[sample_place(chances, starts, rng.random(3, dtype=np.float32))] += 1
    np.testing.assert_allclose(counts / 4000, [1.0, 0.1, 0.2, 0.7, 0.0, 1.0], atol=0.03)


@pytest.mark.parametrize(("name", "options"), NETWORKS)
def test_pairs_are_the_same_with_features_and_without(name, options):
    game = make_game(name)
    seen = decisions(game)
    network = options.build(game.spec)
    observations, pairs = encode_legal_for(network, game, *seen)
    assert (pairs.features is None) == (not network.reads_actions)
    inputs, alone = encode_for(network, game, *seen), legal_pairs(game.legal_actions(seen[0]))
    assert torch.equal(observations, inputs.observations)
    assert torch.equal(pairs.mask(), inputs.legal)
    for column in ("rows", "actions", "starts"):
        assert torch.equal(getattr(pairs, column), getattr(alone, column))
    assert pairs.num_actions == alone.num_actions == game.spec.num_actions


@pytest.mark.parametrize(("name", "options"), NETWORKS)
def test_legal_scores_equal_those_among_all_actions(name, options):
    torch.manual_seed(0)
    game = make_game(name)
    network = options.build(game.spec)
    inputs = encode_for(network, game, *decisions(game))
    observations, pairs = encode_legal_for(network, game, *decisions(game))
    scores, values = network.score_legal(observations, pairs)
    dense, dense_values = network(inputs)
    torch.testing.assert_close(scores, dense[pairs.rows, pairs.actions], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(values, dense_values)
    assert dense.isfinite().sum() == len(scores)


@pytest.mark.parametrize(("name", "options"), NETWORKS)
def test_gradients_equal_those_among_all_actions(name, options):
    torch.manual_seed(0)
    game = make_game(name)
    network = options.build(game.spec)
    inputs = encode_for(network, game, *decisions(game))
    observations, pairs = encode_legal_for(network, game, *decisions(game))
    num = len(inputs.legal)
    first = pairs.starts[:-1]
    behaviour, advantages = torch.full((num,), -1.0), torch.linspace(-1, 1, num)

    def gradients(log_probabilities):
        network.zero_grad()
        terms = clipped_surrogate(log_probabilities[first], behaviour, advantages, torch.tensor(0.2))
        (terms.surrogate - 0.1 * mean_entropy(log_probabilities, num)).backward()
        return [parameter.grad.clone() for parameter in network.parameters() if parameter.grad is not None]

    alone = gradients(pairs.log_softmax(network.score_legal(observations, pairs)[0]))
    among_all = gradients(network(inputs)[0].log_softmax(dim=-1)[pairs.rows, pairs.actions])
    for one, other in zip(alone, among_all, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-6)


def test_sampled_log_probabilities_equal_evaluated_ones_and_greedy_play_is_the_likeliest():
    torch.manual_seed(0)
    game = make_game("big2")
    network = MLPOptions(widths=(32,)).build(game.spec)
    with torch.no_grad():
        network.score_head.weight *= 100
    seen = decisions(game)
    dense, values = SoftmaxAgent(game, network).evaluate(*seen)
    sampled = SoftmaxAgent(game, network).sample(*seen, np.random.default_rng(3))
    here = np.arange(len(values))
    np.testing.assert_allclose(sampled.log_probabilities, dense[here, sampled.actions], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(sampled.values, values, rtol=1e-5)
    likeliest = SoftmaxAgent(game, network, greedy=True).act(*seen, np.random.default_rng(3))
    np.testing.assert_array_equal(likeliest, dense.argmax(axis=1))
    assert (sampled.actions != likeliest).any()


@pytest.mark.parametrize("name", ["big2", "five_o", "poker_squares"])
def test_features_have_the_same_bytes_with_any_number_of_threads(name, monkeypatch):
    game = make_game(name)
    info_states, players = decisions(game)
    encoded = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(torch, "get_num_threads", lambda threads=threads: threads)
        encoded.append(game_pairs(game, info_states, players, torch.device("cpu"), with_features=True))
    alone = encoded[0]
    for several in encoded[1:]:
        for field in ("rows", "actions", "starts", "features"):
            assert getattr(several, field).numpy().tobytes() == getattr(alone, field).numpy().tobytes()


def test_a_forked_process_describes_actions_with_threads_of_its_own(monkeypatch):
    game = make_game("big2", features="plans")
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)

    def describe():
        game_pairs(game, *decisions(game), torch.device("cpu"), with_features=True)

    describe()
    child = multiprocessing.get_context("fork").Process(target=describe)
    child.start()
    child.join(60)
    hangs = child.is_alive()
    child.kill()
    assert not hangs
    assert child.exitcode == 0
