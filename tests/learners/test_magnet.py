"""The magnet of PPO: the loss by hand, and what it needs."""

import math

import pytest
import torch

from cardlab.core.messages import InvalidOption
from cardlab.learners.ppo.loss import magnet_loss
from cardlab.learners.ppo.options import PPOOptions


def test_the_magnet_pulls_by_the_divergence_from_it() -> None:
    policy, magnet = torch.tensor([0.5, 0.5, 1.0]).log(), torch.tensor([0.25, 0.75, 1.0]).log()
    wanted = (0.5 * math.log(2) + 0.5 * math.log(2 / 3)) / 2
    assert magnet_loss(policy, magnet, 2).item() == pytest.approx(wanted)
    assert magnet_loss(policy, policy, 2).item() == 0


def test_a_magnet_needs_an_average_of_weights() -> None:
    with pytest.raises(InvalidOption, match=r"agent\.magnet_weight=0\.5"):
        PPOOptions(magnet_weight=0.5)
