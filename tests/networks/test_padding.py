"""Rows that are filled up for bfloat16 change nothing of what comes out, and leave few shapes to multiply."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from cardlab.agents.random_agent import RandomAgent
from cardlab.games.catalogue import make_game
from cardlab.games.loop import play
from cardlab.networks.bucketing import common_size
from cardlab.networks.critic import Critic
from cardlab.networks.options import ActionsOptions, LinesOptions, MLPOptions, TrunksOptions
from cardlab.networks.protocol import encode_for, encode_legal_for

NETWORKS = [
    ("big2", MLPOptions(widths=(8,), head_widths=(8,))),  # many actions: scores of the legal ones alone
    ("big2", ActionsOptions(state_widths=(8,), action_widths=(8,), joint_widths=(8,))),
    ("five_o", MLPOptions(widths=(8,))),
    ("poker_squares", LinesOptions(line_widths=(8,), context_widths=(8,))),
    ("thirty_one", TrunksOptions(widths=(8,))),
]


def decisions(game, num, steps=7):
    """Up to `num` decisions in mid-game, of which some are forced."""
    rng = np.random.default_rng(num)
    moves = play(game, game.deal(num, rng), [RandomAgent(game)], rng, ask_forced=True)
    for _ in range(steps):
        move = next(moves)
    return move.info_states, move.players


class SizesMet:
    """The numbers of rows that a network's linear layers were given."""

    def __init__(self, network: nn.Module) -> None:
        self.sizes: set[int] = set()
        for layer in network.modules():
            if isinstance(layer, nn.Linear):
                layer.register_forward_pre_hook(lambda _, args: self.sizes.add(args[0].shape[0]))


@given(st.integers(0, 1 << 20))
def test_a_common_size_holds_the_rows_and_little_more(num):
    size = common_size(num)
    assert num <= size < num + max(16, num / 64)
    assert common_size(size) == size


@given(st.integers(10, 20))
def test_an_octave_has_few_of_them(octave):
    assert len({common_size(num) for num in range(1 << octave, 2 << octave, 7)}) <= 65


@pytest.mark.parametrize(("name", "options"), NETWORKS)
def test_a_decision_is_judged_alike_whatever_is_filled_in(name, options, monkeypatch):
    torch.manual_seed(0)
    game = make_game(name)
    network = options.build(game.spec)
    info_states, players = decisions(game, 64)
    inputs = encode_for(network, game, info_states, players)
    _, pairs = encode_legal_for(network, game, info_states, players)

    def judged(size):
        network.zero_grad()
        with monkeypatch.context() as patch, torch.autocast("cpu", torch.bfloat16):
            patch.setattr("cardlab.networks.bucketing.common_size", size)
            scores, values = network.score_legal(inputs.observations, pairs)
            alone = network.value(inputs.observations)
            (scores.square().mean() + values.square().mean() + alone.sum()).backward()
            tables, _ = network(inputs)
        return scores, values, alone, tables, [weights.grad.clone() for weights in network.parameters()]

    plain, filled = judged(lambda num: num), judged(lambda num: num + 37)
    for mine, theirs in zip(filled, plain, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0.02, atol=0.02)  # bfloat16, and sums in another order


@pytest.mark.parametrize(("name", "options"), NETWORKS)
def test_layers_meet_common_sizes_alone_and_float32_meets_what_is_there(name, options):
    game = make_game(name)
    network = options.build(game.spec)
    inputs = encode_for(network, game, *decisions(game, 301))
    _, pairs = encode_legal_for(network, game, *decisions(game, 301))
    met = SizesMet(network)
    network.score_legal(inputs.observations, pairs)
    network(inputs)
    network.value(inputs.observations)
    assert any(common_size(size) != size for size in met.sizes)
    met.sizes.clear()
    with torch.autocast("cpu", torch.bfloat16):
        network.score_legal(inputs.observations, pairs)
        network(inputs)
        network.value(inputs.observations)
    assert met.sizes
    assert all(common_size(size) == size for size in met.sizes)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), NETWORKS[:2])
def test_translated_passes_meet_the_filled_rows_too(name, options):
    torch.manual_seed(0)
    game = make_game(name)
    plain = options.build(game.spec)
    fused = deepcopy(plain)
    fused.fused = True
    for tables in (301, 173):
        observations, pairs = encode_legal_for(plain, game, *decisions(game, tables))
        with torch.autocast("cpu", torch.bfloat16):
            wanted, found = plain.score_legal(observations, pairs), fused.score_legal(observations, pairs)
        for mine, theirs, num in zip(found, wanted, (len(pairs.rows), len(observations)), strict=True):
            assert len(mine) == num
            torch.testing.assert_close(mine, theirs, rtol=0.03, atol=0.03)  # bfloat16, rounded elsewhere


def test_a_critic_that_sees_all_meets_common_sizes():
    game = make_game("big2")
    critic = Critic(game.spec, (8,))
    met = SizesMet(critic)
    observations, privileged = torch.rand(41, game.spec.num_features), torch.rand(41, game.spec.num_privileged)
    with torch.autocast("cpu", torch.bfloat16):
        assert len(critic(observations, privileged)) == 41
    assert met.sizes == {48}


def test_batch_normalisation_sees_what_is_there():
    torch.manual_seed(0)
    game = make_game("five_o")
    network = MLPOptions(widths=(8,), batch_norm=True).build(game.spec).train()
    inputs = encode_for(network, game, *decisions(game, 41))
    met = SizesMet(network)
    with torch.autocast("cpu", torch.bfloat16):
        network(inputs)
        assert met.sizes == {len(inputs.observations)} != {common_size(len(inputs.observations))}
        assert len(deepcopy(network).eval()(inputs)[1]) == len(inputs.observations)
