"""The compiled loss of PPO equals the plain one, and gradient clipping equals torch's."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch._dynamo.utils import counters

from cardlab.learners.base import clip_gradients
from cardlab.learners.ppo.loss import LossInputs, compiled_ppo_loss, ppo_loss
from cardlab.networks.inputs import legal_pairs


def minibatch(num: int, clip_range: float) -> tuple[torch.Tensor, torch.Tensor, LossInputs]:
    """Scores and values of decisions among up to nine actions, and the other inputs of their loss."""
    rng = np.random.default_rng(num)
    legal = rng.random((num, 9)) < 0.5
    legal[np.arange(num), rng.integers(9, size=num)] = True
    pairs = legal_pairs(legal)
    taken = torch.from_numpy(rng.integers(pairs.starts[:-1].numpy(), pairs.starts[1:].numpy()))
    numbers = [torch.from_numpy(rng.normal(size=num).astype(np.float32)) for _ in range(4)]
    scores = torch.from_numpy(rng.normal(size=len(pairs.rows)).astype(np.float32)).requires_grad_()
    inputs = LossInputs(
        pairs,
        taken,
        -numbers[0].abs(),
        numbers[1],
        numbers[2],
        None,
        torch.tensor(clip_range),
        torch.tensor(0.1 * clip_range),
    )
    return scores, numbers[3].requires_grad_(), inputs


@pytest.mark.slow
def test_the_compiled_loss_equals_the_plain_one_and_compiles_once():
    programs = None
    for num, clip_range in ((40, 0.2), (7, 0.19), (333, 0.05)):
        scores, values, inputs = minibatch(num, clip_range)
        found = []
        for loss_function in (ppo_loss, compiled_ppo_loss()):
            loss, metrics = loss_function(scores, values, inputs, 0.5)
            found.append((loss, metrics, *torch.autograd.grad(loss, (scores, values))))
        for mine, theirs in zip(*found, strict=True):
            torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)
        programs = programs or counters["stats"]["unique_graphs"]
        assert counters["stats"]["unique_graphs"] == programs > 0


@given(st.lists(st.floats(-3, 3, width=32), min_size=1, max_size=9), st.floats(0.01, 10))
def test_gradients_are_clipped_as_torch_does(numbers, limit):
    mine, theirs = ([nn.Parameter(torch.zeros(len(numbers))), nn.Parameter(torch.zeros(1))] for _ in range(2))
    for weights in (mine[0], theirs[0]):  # the others have none
        weights.grad = torch.tensor(numbers)
    assert clip_gradients(mine, limit) == pytest.approx(float(nn.utils.clip_grad_norm_(theirs, limit)))
    torch.testing.assert_close(mine[0].grad, theirs[0].grad, rtol=1e-4, atol=1e-6)
