"""Losses against what their equations say."""

import numpy as np
import pytest
import torch

from cardlab.objectives.policy import clipped_surrogate, entropy_of
from cardlab.objectives.values import bootstrap, explained_variance, regression, taken

ILLEGAL = -torch.inf


def test_entropy_knows_only_what_is_legal():
    scores = torch.tensor([[0.0, 0.0, ILLEGAL, 0.0], [5.0, ILLEGAL, ILLEGAL, ILLEGAL]])
    assert entropy_of(scores.log_softmax(-1)).tolist() == pytest.approx([np.log(3), 0.0])


def test_gradients_stay_finite_with_illegal_actions():
    scores = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    masked = scores.masked_fill(torch.tensor([[False, True, False]]), ILLEGAL)
    terms = clipped_surrogate(masked, torch.tensor([0]), torch.tensor([-0.5]), torch.tensor([1.0]), 0.2)
    (terms.surrogate - terms.entropy).backward()
    assert scores.grad is not None
    assert torch.isfinite(scores.grad).all()
    assert scores.grad[0, 1] == 0


@pytest.mark.parametrize(
    ("ratio", "advantage", "wanted"),
    [(1.5, 1.0, -1.2), (1.5, -1.0, 1.5), (0.5, 1.0, -0.5), (0.5, -1.0, 0.8), (1.1, 2.0, -2.2)],
)
def test_the_surrogate_clips_on_the_pessimistic_side(ratio, advantage, wanted):
    scores = torch.tensor([[0.3, 0.7]]).log()
    behaviour = scores[:, 0] - np.log(ratio)
    terms = clipped_surrogate(scores, torch.tensor([0]), behaviour, torch.tensor([advantage]), 0.2)
    assert terms.surrogate.item() == pytest.approx(wanted, abs=1e-5)
    assert terms.clipped.item() == float(abs(ratio - 1) > 0.2)
    assert terms.divergence.item() == pytest.approx(ratio - 1 - np.log(ratio), abs=1e-5)


def test_double_q_lets_one_choose_and_the_other_judge():
    online = torch.tensor([[1.0, 3.0, ILLEGAL], [ILLEGAL, ILLEGAL, ILLEGAL]])
    target = torch.tensor([[5.0, 2.0, ILLEGAL], [ILLEGAL, ILLEGAL, ILLEGAL]])
    assert bootstrap(online, target, double=True).tolist() == [2.0, 0.0]
    assert bootstrap(online, target, double=False).tolist() == [5.0, 0.0]


def test_the_loss_is_on_the_action_taken_only():
    scores = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    regression(taken(scores, torch.tensor([1, 0])), torch.tensor([0.0, 0.0]), "mse").backward()
    assert scores.grad is not None
    assert scores.grad.tolist() == [[0.0, 2.0], [3.0, 0.0]]


def test_huber_is_linear_far_out():
    predicted, targets = torch.tensor([0.0]), torch.tensor([10.0])
    assert regression(predicted, targets, "huber").item() == pytest.approx(9.5)
    assert regression(predicted, targets, "mse").item() == pytest.approx(100.0)


def test_explained_variance_has_its_landmarks():
    targets = torch.tensor([1.0, 2.0, 3.0])
    assert explained_variance(targets, targets).item() == 1.0
    assert explained_variance(torch.full((3,), 2.0), targets).item() == 0.0
    assert explained_variance(targets, torch.ones(3)).item() == 0.0
