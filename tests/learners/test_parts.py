"""A minibatch learned from in parts makes the step that it makes as a whole."""

from dataclasses import replace

import pytest
import torch

from cardlab.learners import base as rounds
from cardlab.training.training_process import build_learner
from learners.kuhn_training import kuhn_experiment


@pytest.mark.parametrize("size", [1, 7, 64])
def test_the_gradient_is_that_of_the_whole(size, monkeypatch):
    gradients = []
    for rows in (1000, size):
        monkeypatch.setattr(rounds, "_ROWS_IN_CACHE", rows)
        experiment = kuhn_experiment("ppo")
        agent = replace(experiment.agent, minibatch_size=200, epochs=1, decisions_per_iteration=200)
        learner, collector = build_learner(replace(experiment, agent=agent))
        assert len(list(learner.cache_sized_parts(200))) == -(-200 // rows)
        optimizer = torch.optim.SGD(learner.network.parameters(), lr=0.0)
        learner.optimizers = lambda *_, chosen=optimizer, **__: chosen
        torch.manual_seed(0)
        metrics = learner.update(collector.collect(200))
        gradients.append([weights.grad.clone() for weights in learner.network.parameters()])
    for whole, parts in zip(*gradients, strict=True):
        torch.testing.assert_close(parts, whole, rtol=1e-4, atol=1e-6)
    assert metrics["grad_norm"] > 0


@pytest.mark.parametrize(("num", "pieces"), [(0, 1), (1, 1), (4096, 1), (4400, 1), (4600, 2), (8200, 2), (10_000, 3)])
def test_parts_are_even_and_leave_nothing_out(num, pieces):
    learner, _ = build_learner(kuhn_experiment("ppo"))
    parts = list(learner.cache_sized_parts(num))
    sizes = [len(range(num)[part]) for part in parts]
    assert len(parts) == pieces
    assert max(sizes) - min(sizes) <= 1
    assert [number for part in parts for number in range(num)[part]] == list(range(num))
