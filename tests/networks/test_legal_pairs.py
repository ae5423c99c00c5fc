"""Scores of legal actions alone: the same numbers as among all actions, on every network and game."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cardlab.agents.network import SoftmaxAgent
from cardlab.agents.random import RandomAgent
from cardlab.games.catalogue import make_game
from cardlab.networks.actions import ActionsOptions
from cardlab.networks.inputs import Inputs, legal_pairs
from cardlab.networks.mlp import MLPOptions
from cardlab.networks.protocol import encode_for
from cardlab.objectives.policy import clipped_surrogate
from cardlab.playing.loop import play

NETWORKS = [
    ("big2", MLPOptions(widths=(32,), head_widths=(16,))),
    ("big2", MLPOptions(widths=(32,), separate_critic=True)),
    ("big2", ActionsOptions(state_widths=(32,), action_widths=(16,), joint_widths=(8,))),
    ("five_o", MLPOptions(widths=(32,))),
]


def decisions(game, steps=7, tables=64):
    """InfoStates and players of decisions in mid-game."""
    rng = np.random.default_rng(1)
    moves = play(game, game.deal(tables, rng), [RandomAgent(game)], rng, ask_forced=True)
    for _ in range(steps):
        move = next(moves)
    return move.info_states, move.players


@given(arrays.arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 70))))
def test_pairs_are_the_legal_actions_in_order(legal):
    legal[:, 0] |= ~legal.any(axis=1)
    inputs = Inputs(torch.zeros(len(legal), 1), torch.from_numpy(legal))
    pairs = legal_pairs(inputs)
    rows, actions = np.nonzero(legal)
    np.testing.assert_array_equal(pairs.rows, rows)
    np.testing.assert_array_equal(pairs.actions, actions)
    assert pairs.num_slots == legal.sum(axis=1).max()
    table = pairs.table(pairs.actions.float()).numpy()
    for row, own in enumerate(legal):
        listed = table[row][np.isfinite(table[row])]
        np.testing.assert_array_equal(listed, np.flatnonzero(own))
        np.testing.assert_array_equal(table[row, : len(listed)], listed)


@given(arrays.arrays(np.bool_, st.tuples(st.integers(1, 9), st.integers(1, 70))), st.data())
def test_slots_and_actions_turn_into_each_other(legal, data):
    legal[:, 0] |= ~legal.any(axis=1)
    pairs = legal_pairs(Inputs(torch.zeros(len(legal), 1), torch.from_numpy(legal)))
    chosen = torch.tensor([data.draw(st.sampled_from(np.flatnonzero(row).tolist())) for row in legal])
    torch.testing.assert_close(pairs.actions_at(pairs.slots_of(chosen)), chosen)


@pytest.mark.parametrize(("name", "options"), NETWORKS)
def test_scores_are_those_among_all_actions(name, options):
    torch.manual_seed(0)
    game = make_game(name)
    network = options.build(game.spec)
    inputs = encode_for(network, game, *decisions(game))
    pairs = legal_pairs(inputs)
    scores, values = network.score_legal(inputs, pairs)
    dense, dense_values = network(inputs)
    torch.testing.assert_close(scores, dense[pairs.rows, pairs.actions], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(values, dense_values)
    assert dense.isfinite().sum() == len(scores)


@pytest.mark.parametrize(("name", "options"), NETWORKS)
def test_gradients_are_those_among_all_actions(name, options):
    torch.manual_seed(0)
    game = make_game(name)
    network = options.build(game.spec)
    inputs = encode_for(network, game, *decisions(game))
    pairs = legal_pairs(inputs)
    num = len(inputs.legal)
    slots = torch.zeros(num, dtype=torch.int64)
    actions = pairs.actions_at(slots)
    behaviour, gains = torch.full((num,), -1.0), torch.linspace(-1, 1, num)

    def gradients(scores, chosen):
        network.zero_grad()
        terms = clipped_surrogate(scores, chosen, behaviour, gains, 0.2)
        (terms.surrogate - 0.1 * terms.entropy).backward()
        return [parameter.grad.clone() for parameter in network.parameters() if parameter.grad is not None]

    alone = gradients(pairs.table(network.score_legal(inputs, pairs)[0]), slots)
    among_all = gradients(network(inputs)[0], actions)
    for one, other in zip(alone, among_all, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-6)


def test_the_agent_says_what_it_does():
    """Log-probabilities of sampled actions are those of `evaluate`; greedy plays its likeliest."""
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
