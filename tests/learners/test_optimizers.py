"""The optimisers of TD and their options."""

from dataclasses import replace

import pytest
import torch

from cardlab.core.messages import InvalidOption
from cardlab.learners.td.options import TDOptions
from cardlab.training.training_process import build_learner
from learners.kuhn_training import kuhn_experiment


def weights_after(steps, **options):
    """The first weights before and after `steps` steps with a gradient of 2 for every weight; the number of weights."""
    experiment = kuhn_experiment("td")
    learner, _ = build_learner(replace(experiment, agent=replace(experiment.agent, learning_rate=0.1, **options)))
    optimizer, weights = learner.configure_optimizers(), list(learner.network.parameters())
    before = weights[0].detach().clone()
    for _ in range(steps):
        for weight in weights:
            weight.grad = torch.full_like(weight, 2.0)
        optimizer.step()
    return before, weights[0].detach(), sum(weight.numel() for weight in weights)


def test_momentum_adds_the_step_before():
    before, after, _ = weights_after(2, optimizer="sgd", momentum=0.5)
    torch.testing.assert_close(after, before - 0.1 * 2.0 - 0.1 * (2.0 + 0.5 * 2.0))


@pytest.mark.parametrize("optimizer", ["sgd", "adagrad", "adam"])
def test_weight_decay_pulls_towards_0(optimizer):
    _, free, _ = weights_after(2, optimizer=optimizer)
    before, pulled, _ = weights_after(2, optimizer=optimizer, weight_decay=0.9)
    assert not torch.equal(pulled, free)
    if optimizer == "sgd":
        once = before - 0.1 * (2.0 + 0.9 * before)
        torch.testing.assert_close(pulled, once - 0.1 * (2.0 + 0.9 * once))


def test_normalised_gradients_have_the_norm_1():
    before, after, count = weights_after(1, optimizer="sgd", normalize_gradients=True)
    torch.testing.assert_close(after, torch.full_like(before, -0.1 / count**0.5) + before)


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("momentum", {"momentum": 0.9}),
        ("momentum", {"optimizer": "sgd", "momentum": 1.0}),
        (
            "weight_decay",
            {"online": True, "optimizer": "sgd", "minibatch_size": 1, "td_lambda": 0, "weight_decay": 0.1},
        ),
    ],
)
def test_options_that_an_optimiser_cannot_have_are_refused(key, options):
    with pytest.raises(InvalidOption, match=rf"agent\.{key}"):
        TDOptions(**options)
