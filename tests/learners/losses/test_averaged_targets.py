"""The averaged bootstrap in its two orders, and the loss of all actions."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cardlab.learners.losses import averaged_bootstrap, regression, regression_of_all

ILLEGAL = -torch.inf
numbers = st.floats(-5, 5, width=32)


def test_orders_differ_where_the_best_action_does():
    """Two successors with different best actions: the mean of maxima is 1, the maximum of the mean 0."""
    action_values = torch.tensor([[[1.0, -1.0], [-1.0, 1.0]]])
    assert averaged_bootstrap(action_values, "mean_of_maxima").tolist() == [1.0]
    assert averaged_bootstrap(action_values, "maximum_of_mean").tolist() == [0.0]


@given(arrays("float32", (3, 4, 5), elements=numbers))
def test_the_maximum_of_the_mean_is_never_larger(values):
    action_values = torch.from_numpy(values)
    means = averaged_bootstrap(action_values, "mean_of_maxima")
    assert (averaged_bootstrap(action_values, "maximum_of_mean") <= means + 1e-5).all()
    assert means.tolist() == pytest.approx([sum(max(row) for row in rows) / 4 for rows in values.tolist()], abs=1e-4)


@given(arrays("float32", (3, 1, 5), elements=numbers))
def test_orders_agree_for_one_successor(values):
    action_values = torch.from_numpy(values)
    best = averaged_bootstrap(action_values, "maximum_of_mean")
    assert torch.equal(best, averaged_bootstrap(action_values, "mean_of_maxima"))


@pytest.mark.parametrize("order", ["mean_of_maxima", "maximum_of_mean"])
def test_a_finished_game_counts_zero(order):
    action_values = torch.tensor([[[4.0, ILLEGAL], [ILLEGAL, ILLEGAL]], [[ILLEGAL] * 2] * 2])
    assert averaged_bootstrap(action_values, order).tolist() == [2.0, 0.0]


def test_without_a_common_action_the_result_is_the_mean_of_maxima():
    action_values = torch.tensor([[[4.0, ILLEGAL], [ILLEGAL, 2.0]]])
    assert averaged_bootstrap(action_values, "maximum_of_mean").tolist() == [3.0]


def test_the_loss_of_all_actions_has_gradients_for_all_legal_actions():
    scores = torch.tensor([[1.0, 2.0, ILLEGAL]], requires_grad=True)
    regression_of_all(scores, torch.tensor([0.0]), "mse").backward()
    assert scores.grad is not None
    assert scores.grad.tolist() == [[1.0, 2.0, 0.0]]


@pytest.mark.parametrize("kind", ["mse", "huber"])
def test_weights_are_step_sizes(kind):
    predicted, targets = torch.tensor([1.0, 2.0]), torch.tensor([0.5, 5.0])
    one, other = (regression(predicted[n : n + 1], targets[n : n + 1], kind) for n in (0, 1))
    weighted = regression(predicted, targets, kind, torch.tensor([0.25, 0.5]))
    assert weighted.item() == pytest.approx((0.25 * one.item() + 0.5 * other.item()) / 2)
