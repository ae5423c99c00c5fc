"""The losses of values and action values."""

import torch
from torch import Tensor
from torch.nn import functional

LOSSES = ("mse", "huber")


def regression(predicted: Tensor, targets: Tensor, kind: str) -> Tensor:
    """Mean loss of `predicted` [N] against `targets` [N]: squared error, or Huber's with its corner at 1."""
    if kind == "mse":
        return functional.mse_loss(predicted, targets)
    return functional.smooth_l1_loss(predicted, targets)


def taken(scores: Tensor, actions: Tensor) -> Tensor:
    """[N] the scores [N, A] of the actions [N] alone: others must not be trained towards anything."""
    return scores.gather(1, actions[:, None]).squeeze(1)


def bootstrap(online: Tensor, target: Tensor, *, double: bool) -> Tensor:
    """[N] value of the best action by action values [N, A], minus infinity where illegal.

    Double Q-learning lets the online network choose and the target network judge (van Hasselt et al. 2016,
    equation 4); plain takes the target network's maximum. Rows without a legal action are worth 0.
    """
    dead = target.isneginf().all(dim=-1)
    best = taken(target, online.argmax(dim=-1)) if double else target.max(dim=-1).values
    return torch.where(dead, torch.zeros_like(best), best)


def explained_variance(predicted: Tensor, targets: Tensor) -> Tensor:
    """1 − Var(targets − predicted) / Var(targets): 1 is perfect, 0 no better than the mean."""
    spread = targets.var()
    return torch.where(spread > 0, 1.0 - (targets - predicted).var() / spread, torch.zeros_like(spread))
