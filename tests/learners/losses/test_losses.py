"""Losses against their equations."""

import numpy as np
import pytest
import torch

from cardlab.learners.losses import bootstrap, explained_variance, regression
from cardlab.learners.ppo.loss import clipped_surrogate, mean_entropy

ILLEGAL = -torch.inf


def test_entropy_is_the_mean_over_decisions():
    thirds, certain = np.log([1 / 3] * 3), [0.0]
    assert mean_entropy(torch.tensor([*thirds, *certain]), 2).item() == pytest.approx(np.log(3) / 2)


@pytest.mark.parametrize(
    ("ratio", "advantage", "expected"),
    [(1.5, 1.0, -1.2), (1.5, -1.0, 1.5), (0.5, 1.0, -0.5), (0.5, -1.0, 0.8), (1.1, 2.0, -2.2)],
)
def test_the_surrogate_clips_on_the_pessimistic_side(ratio, advantage, expected):
    now = torch.tensor([0.3]).log()
    terms = clipped_surrogate(now, now - np.log(ratio), torch.tensor([advantage]), torch.tensor(0.2))
    assert terms.surrogate.item() == pytest.approx(expected, abs=1e-5)
    assert terms.clip_fraction.item() == float(abs(ratio - 1) > 0.2)
    assert terms.approx_kl.item() == pytest.approx(ratio - 1 - np.log(ratio), abs=1e-5)


def test_double_q_learning_chooses_online_and_evaluates_by_the_target():
    online = torch.tensor([[1.0, 3.0, ILLEGAL], [ILLEGAL, ILLEGAL, ILLEGAL]])
    target = torch.tensor([[5.0, 2.0, ILLEGAL], [ILLEGAL, ILLEGAL, ILLEGAL]])
    assert bootstrap(online, target, double=True).tolist() == [2.0, 0.0]
    assert bootstrap(online, target, double=False).tolist() == [5.0, 0.0]


def test_huber_loss_is_linear_for_large_errors():
    predicted, targets = torch.tensor([0.0]), torch.tensor([10.0])
    assert regression(predicted, targets, "huber").item() == pytest.approx(9.5)
    assert regression(predicted, targets, "mse").item() == pytest.approx(100.0)


def test_explained_variance_is_one_for_perfect_and_zero_for_constant_predictions():
    targets = torch.tensor([1.0, 2.0, 3.0])
    assert explained_variance(targets, targets).item() == 1.0
    assert explained_variance(torch.full((3,), 2.0), targets).item() == 0.0
    assert explained_variance(targets, torch.ones(3)).item() == 0.0
