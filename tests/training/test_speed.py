"""What a training changes of its process for speed, and what it leaves."""

from dataclasses import replace

import pytest
import torch

from cardlab.learners.rollouts.opponents.pool import PoolOptions
from cardlab.training.training_process import build_learner, denormals_flushed
from learners.kuhn_training import kuhn_experiment


def smallest() -> float:
    """A denormal number, as torch computes it now."""
    return float(torch.tensor(1e-38) * torch.tensor(1e-3))


def test_denormals_are_zero_only_while_it_learns() -> None:
    assert smallest() > 0
    with denormals_flushed():
        assert smallest() == 0
    assert smallest() > 0


@pytest.mark.parametrize("compiled", [False, True])
def test_past_selves_are_translated_where_the_learner_is(compiled):
    experiment = kuhn_experiment("ppo")
    trainer = replace(experiment.trainer, compile=compiled)
    field = PoolOptions(size=3, every=1, current_share=0.5)
    learner, collector = build_learner(replace(experiment, trainer=trainer, opponents=field))
    selves = collector.opponents.agents
    assert learner.network.compiled == compiled
    assert [past.network.compiled for past in selves] == 3 * [compiled]
