"""Pooling of lines, and whether the order of lines matters."""

import numpy as np
import pytest
import torch
from torch import Tensor

from cardlab.agents.exploration import RandomAgent
from cardlab.core.messages import InvalidOption
from cardlab.games.loop import play
from cardlab.games.make_game import make_game
from cardlab.networks.lines import LinesNetwork
from cardlab.networks.lines_options import LinesOptions

GAME = make_game("five_o")


@pytest.fixture(scope="module")
def observations() -> Tensor:
    """Observations [64, F] in the middle of games."""
    rng = np.random.default_rng(0)
    steps = play(GAME, GAME.deal(64, rng), [RandomAgent(GAME)], rng)
    for _ in range(17):
        moves = next(steps)
    return torch.from_numpy(GAME.observe(moves.info_states, moves.players))


def built(pooling: str) -> LinesNetwork:
    torch.manual_seed(3)
    return LinesOptions(line_widths=(16, 8), context_widths=(16,), pooling=pooling).build(GAME.spec)


def reordered(observations: Tensor, order: list[int]) -> Tensor:
    """The observations with their ten lines in this order."""
    block = GAME.spec.block("lines")
    changed = observations.clone()
    lines = observations[:, block.start : block.stop].reshape(-1, *block.shape)
    changed[:, block.start : block.stop] = lines[:, order].flatten(1)
    return changed


@pytest.mark.parametrize(("pooling", "one"), [("mean", True), ("concat", False)])
def test_whether_the_order_of_the_lines_matters(observations: Tensor, pooling: str, one: bool) -> None:
    network = built(pooling)
    moved = reordered(observations, [1, 2, 3, 4, 0, 5, 6, 7, 8, 9])
    assert torch.allclose(network.value(observations), network.value(moved), atol=1e-6) == one


@pytest.mark.parametrize("pooling", ["mean", "concat"])
def test_a_value_does_not_depend_on_the_batch(observations: Tensor, pooling: str) -> None:
    network = built(pooling)
    whole = network.value(observations)
    for row in range(0, 64, 9):
        torch.testing.assert_close(network.value(observations[row : row + 1])[0], whole[row])


@pytest.mark.parametrize("pooling", ["mean", "concat"])
def test_a_value_is_the_sum_over_lines_and_the_context(observations: Tensor, pooling: str) -> None:
    network = built(pooling)
    block = GAME.spec.block("lines")
    lines = network.lines.encoder(observations[:, block.start : block.stop].reshape(-1, *block.shape))
    rest = torch.cat((observations[:, : block.start], observations[:, block.stop :]), dim=1)
    pooled = lines.mean(dim=1) if pooling == "mean" else lines.flatten(1)
    context = network.context(torch.cat((pooled, rest), dim=1))
    expected = network.line_value(lines).sum(dim=(1, 2)) + network.context_value(context).squeeze(1)
    torch.testing.assert_close(network.value(observations), expected)
    with torch.inference_mode():  # each distinct line is encoded once
        torch.testing.assert_close(network.value(observations), expected)


def test_an_unknown_pooling_raises_an_error() -> None:
    with pytest.raises(InvalidOption, match=r"network.pooling=max: must be one of mean, concat"):
        LinesOptions(pooling="max")
