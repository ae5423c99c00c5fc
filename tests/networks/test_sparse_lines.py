"""The network over sparse lines: its gradient against torch's, and its kernels against the network."""

import numpy as np
import pytest
import torch
from torch.nn.functional import embedding_bag

from cardlab.agents.exploration import RandomAgent
from cardlab.agents.network_agents import AfterstateAgent
from cardlab.agents.registry import load_agent
from cardlab.agents.search.builders import build_search
from cardlab.agents.search.leaves import KernelPlayouts
from cardlab.agents.search.options import MonteCarloOptions
from cardlab.core.messages import InvalidOption
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.networks.protocol import encode_for
from cardlab.networks.sparse_lines import SparseLinesNetwork, add_at_codes
from cardlab.networks.sparse_lines_options import SparseLinesOptions

GAME = make_game("poker_squares", features="sparse_lines")
WIDTH = 24


@pytest.fixture
def network() -> SparseLinesNetwork:
    torch.manual_seed(1)
    return SparseLinesOptions(width=WIDTH).build(GAME.spec)


def info_states(steps):
    rng = np.random.default_rng(steps)
    for moves in play(GAME, GAME.deal(30, rng), [RandomAgent(GAME)], rng):
        if moves.info_states["turn"][0] == steps:
            return moves.info_states, moves.players
    raise AssertionError(steps)


@pytest.mark.parametrize("steps", [0, 6, 13, 20, 24])
def test_kernels_agree_with_the_network(network, steps):
    known, players = info_states(steps)
    agent = AfterstateAgent(GAME, network, 0.0, 20.0)
    compiled = agent.action_values(known, players)
    agent.sparse_line_values = lambda: None
    by_network = agent.action_values(known, players)
    assert np.array_equal(np.isfinite(compiled), np.isfinite(by_network))
    legal = np.isfinite(compiled)
    assert compiled[legal] == pytest.approx(by_network[legal], rel=1e-4, abs=1e-3)


def test_the_gradient_equals_that_of_torch(network):
    known, players = info_states(12)
    observations = torch.from_numpy(GAME.observe(known, players))
    network.value(observations).square().sum().backward()
    vectors = network.vectors.detach().clone().requires_grad_(True)
    codes = observations[:, :-1].long().reshape(-1, 18)
    codes[codes < 0] = len(vectors) - 1
    lines = embedding_bag(codes, vectors, mode="sum", padding_idx=len(vectors) - 1).relu().reshape(-1, 10, WIDTH)
    values = lines.sum(dim=1) @ network.weights.detach() + observations[:, -1]
    values.square().sum().backward()
    assert network.vectors.grad is not None
    torch.testing.assert_close(network.vectors.grad, vectors.grad, rtol=1e-3, atol=1e-3)
    assert not network.vectors.grad[-1].any()


def test_rows_are_added_to_each_of_their_codes():
    total = np.zeros((4, 16), dtype=np.float32)
    add_at_codes(total, np.array([[0, 2], [2, 2]]), np.array([np.full(16, 1), np.full(16, 5)], dtype=np.float32))
    assert total[:, 0].tolist() == [1, 0, 11, 0]


def test_scores_and_values_of_the_network(network):
    known, players = info_states(8)
    inputs = encode_for(network, GAME, known, players)
    scores, values = network(inputs)
    assert torch.equal(torch.isfinite(scores), inputs.legal)
    torch.testing.assert_close(values, network.value(inputs.observations))
    scores[inputs.legal].sum().backward()
    assert network.vectors.grad.any()


def test_searches_use_it_in_one_kernel(network):
    policy = AfterstateAgent(GAME, network, 0.0, 20.0)
    for policy_sees in ("sparse_lines", "lines"):  # also with other features of the game
        game = make_game("poker_squares", features=policy_sees)
        search = build_search(game, MonteCarloOptions(policy="champion", simulations=8), policy, load_agent)
        assert isinstance(search.leaf, KernelPlayouts)


@pytest.mark.parametrize("width", [0, 2048])
def test_invalid_widths_raise_an_error(width):
    with pytest.raises(InvalidOption, match=r"network\.width="):
        SparseLinesOptions(width=width)


@pytest.mark.parametrize("game", ["poker_squares", "five_o"])
def test_games_without_sparse_lines_raise_an_error(game):
    with pytest.raises(
        InvalidOption,
        match=r"network=sparse_lines: must be mlp or trunks, or .*: with these features .* has no sparse lines",
    ):
        SparseLinesOptions().build(make_game(game).spec)
