"""Padding to buckets: outputs do not change, and matrix products have few shapes."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from cardlab.agents.exploration import RandomAgent
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.networks.abstract_actions_options import AbstractActionsOptions
from cardlab.networks.actions_options import ActionsOptions
from cardlab.networks.compiled import bucket_size
from cardlab.networks.layers import Critic
from cardlab.networks.lines_options import LinesOptions
from cardlab.networks.mlp_options import MLPOptions
from cardlab.networks.proto_action_options import ProtoActionOptions
from cardlab.networks.protocol import encode_for, encode_legal_for
from cardlab.networks.trunks_options import TrunksOptions

NETWORKS = [
    ("big2", MLPOptions(widths=(8,), head_widths=(8,))),  # many actions: scores of the legal ones alone
    ("big2", ActionsOptions(state_widths=(8,), action_widths=(8,), joint_widths=(8,))),
    ("big2", ProtoActionOptions(None, 4, state_widths=(8,), action_widths=(8,), joint_widths=(8,))),
    ("big2", AbstractActionsOptions(widths=(8,))),
    ("five_o", MLPOptions(widths=(8,))),
    ("poker_squares", LinesOptions(line_widths=(8,), context_widths=(8,))),
    ("thirty_one", TrunksOptions(widths=(8,))),
]


def decisions(game, num, steps=7):
    """Up to `num` decisions in the middle of games, including forced moves."""
    rng = np.random.default_rng(num)
    moves = play(game, game.deal(num, rng), [RandomAgent(game)], rng, ask_forced=True)
    for _ in range(steps):
        move = next(moves)
    return move.info_states, move.players


class RecordedSizes:
    """Numbers of rows in the inputs of a network's linear layers."""

    def __init__(self, network: nn.Module) -> None:
        self.sizes: set[int] = set()
        for layer in network.modules():
            if isinstance(layer, nn.Linear):
                layer.register_forward_pre_hook(lambda _, args: self.sizes.add(args[0].shape[0]))


@given(st.integers(0, 1 << 20))
def test_a_bucket_holds_the_rows_and_little_more(num):
    size = bucket_size(num)
    assert num <= size < num + max(16, num / 64)
    assert bucket_size(size) == size


@given(st.integers(10, 20))
def test_an_octave_has_few_buckets(octave):
    assert len({bucket_size(num) for num in range(1 << octave, 2 << octave, 7)}) <= 65


@pytest.mark.parametrize(("name", "options"), NETWORKS)
def test_padding_does_not_change_outputs_and_gradients(name, options, monkeypatch):
    torch.manual_seed(0)
    game = make_game(name)
    network = options.build(game.spec)
    info_states, players = decisions(game, 64)
    inputs = encode_for(network, game, info_states, players)
    _, pairs = encode_legal_for(network, game, info_states, players)

    def outputs(size):
        network.zero_grad()
        with monkeypatch.context() as patch, torch.autocast("cpu", torch.bfloat16):
            patch.setattr("cardlab.networks.compiled.bucket_size", size)
            scores, values = network.score_legal(inputs.observations, pairs)
            alone = network.value(inputs.observations)
            (scores.square().mean() + values.square().mean() + alone.sum()).backward()
            dense, _ = network(inputs)
        return scores, values, alone, dense, [weights.grad.clone() for weights in network.parameters()]

    plain, padded = outputs(lambda num: num), outputs(lambda num: num + 37)
    for actual, expected in zip(padded, plain, strict=True):
        torch.testing.assert_close(actual, expected, rtol=0.02, atol=0.02)  # bfloat16, sums in another order


@pytest.mark.parametrize(("name", "options"), NETWORKS)
def test_layers_get_buckets_in_bfloat16_and_no_padding_in_float32(name, options):
    game = make_game(name)
    network = options.build(game.spec)
    inputs = encode_for(network, game, *decisions(game, 301))
    _, pairs = encode_legal_for(network, game, *decisions(game, 301))
    recorded = RecordedSizes(network)
    network.score_legal(inputs.observations, pairs)
    network(inputs)
    network.value(inputs.observations)
    assert any(bucket_size(size) != size for size in recorded.sizes)
    recorded.sizes.clear()
    with torch.autocast("cpu", torch.bfloat16):
        network.score_legal(inputs.observations, pairs)
        network(inputs)
        network.value(inputs.observations)
    assert recorded.sizes
    assert all(bucket_size(size) == size for size in recorded.sizes)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), NETWORKS[:2])
def test_compiled_passes_are_padded(name, options):
    torch.manual_seed(0)
    game = make_game(name)
    plain = options.build(game.spec)
    compiled = deepcopy(plain)
    compiled.compiled = True
    for num_games in (301, 173):
        observations, pairs = encode_legal_for(plain, game, *decisions(game, num_games))
        with torch.autocast("cpu", torch.bfloat16):
            expected, actual = plain.score_legal(observations, pairs), compiled.score_legal(observations, pairs)
        for padded, plain_output, num in zip(actual, expected, (len(pairs.rows), len(observations)), strict=True):
            assert len(padded) == num
            torch.testing.assert_close(padded, plain_output, rtol=0.03, atol=0.03)  # bfloat16, other roundings


def test_the_critic_is_padded():
    game = make_game("big2")
    critic = Critic(game.spec, (8,))
    recorded = RecordedSizes(critic)
    observations, privileged = torch.rand(41, game.spec.num_features), torch.rand(41, game.spec.num_privileged)
    with torch.autocast("cpu", torch.bfloat16):
        assert len(critic(observations, privileged)) == 41
    assert recorded.sizes == {48}


def test_batch_normalisation_gets_no_padding_in_training():
    torch.manual_seed(0)
    game = make_game("five_o")
    network = MLPOptions(widths=(8,), batch_norm=True).build(game.spec).train()
    inputs = encode_for(network, game, *decisions(game, 41))
    recorded = RecordedSizes(network)
    with torch.autocast("cpu", torch.bfloat16):
        network(inputs)
        assert recorded.sizes == {len(inputs.observations)} != {bucket_size(len(inputs.observations))}
        assert len(deepcopy(network).eval()(inputs)[1]) == len(inputs.observations)
