"""What a training changes of its process for speed, and what it leaves."""

import torch

from cardlab.training.speed import denormals_flushed


def smallest() -> float:
    """A denormal number, as torch computes it now."""
    return float(torch.tensor(1e-38) * torch.tensor(1e-3))


def test_denormals_are_zero_only_while_it_learns() -> None:
    assert smallest() > 0
    with denormals_flushed():
        assert smallest() == 0
    assert smallest() > 0
