"""Compiled passes: torch compiles them, results equal those of eager passes, and copies share the program."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from torch._dynamo.utils import counters

from cardlab.agents.exploration import RandomAgent
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.networks.actions_options import ActionsOptions
from cardlab.networks.lines_options import LinesOptions
from cardlab.networks.mlp_options import MLPOptions
from cardlab.networks.proto_action_options import ProtoActionOptions
from cardlab.networks.protocol import encode_for, encode_legal_for

NETWORKS = [
    ("big2", MLPOptions(widths=(32,), head_widths=(16,))),
    ("big2", ActionsOptions(state_widths=(32,), action_widths=(16,), joint_widths=(8,))),
    ("big2", ProtoActionOptions(None, 4, state_widths=(32,), action_widths=(16,), joint_widths=(8,))),
    ("five_o", MLPOptions(widths=(32,))),
    ("poker_squares", LinesOptions(line_widths=(16,), context_widths=(16,))),
]


def decisions(game, num_games, steps=7):
    rng = np.random.default_rng(1)
    moves = play(game, game.deal(num_games, rng), [RandomAgent(game)], rng, ask_forced=True)
    for _ in range(steps):
        move = next(moves)
    return move.info_states, move.players


def programs() -> int:
    return counters["stats"]["unique_graphs"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), NETWORKS)
def test_compiled_passes_equal_eager_passes(name, options):
    torch.manual_seed(0)
    game = make_game(name)
    eager = options.build(game.spec)
    compiled = deepcopy(eager)
    compiled.compiled = True
    before = programs()
    for num_games in (64, 33):
        observations, pairs = encode_legal_for(eager, game, *decisions(game, num_games))
        for network in (eager, compiled):
            network.zero_grad()
            scores, values = network.score_legal(observations, pairs)
            (scores.square().mean() + values.square().mean()).backward()
        expected, actual = eager.score_legal(observations, pairs), compiled.score_legal(observations, pairs)
        torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)
        for actual, expected in zip(compiled.parameters(), eager.parameters(), strict=True):
            torch.testing.assert_close(actual.grad, expected.grad, rtol=1e-3, atol=1e-5)
        torch.testing.assert_close(compiled.value(observations), eager.value(observations))
    assert programs() > before


@pytest.mark.slow
def test_a_copy_uses_its_own_weights_in_the_shared_program():
    game = make_game("five_o")
    network = MLPOptions(widths=(24,)).build(game.spec)
    network.compiled = True
    inputs = encode_for(network, game, *decisions(game, 16))
    first, _ = network(inputs)
    copy, before = deepcopy(network), programs()
    torch.testing.assert_close(copy(inputs)[0], first)
    with torch.no_grad():
        for weights in copy.parameters():
            weights.zero_()
    assert not torch.equal(copy(inputs)[0][inputs.legal], first[inputs.legal])
    assert not copy(inputs)[0][inputs.legal].any()
    torch.testing.assert_close(network(inputs)[0], first)
    assert programs() == before
