"""The losses of values and action values."""

import torch
from torch import Tensor
from torch.nn import functional


def regression(predicted: Tensor, targets: Tensor, kind: str, weights: Tensor | None = None) -> Tensor:
    """Mean loss of `predicted` [N] against `targets` [N]: squared error, or Huber's with its corner at 1.

    With `weights` [N] each decision's loss counts so much; the mean is still over N, so weights are step sizes.
    """
    loss_of = functional.mse_loss if kind == "mse" else functional.smooth_l1_loss
    if weights is None:
        return loss_of(predicted, targets)
    return (weights * loss_of(predicted, targets, reduction="none")).mean()


def regression_of_all(scores: Tensor, targets: Tensor, kind: str) -> Tensor:
    """Mean loss of every legal score [N, A] against the target [N] of the action taken: what `taken` avoids.

    The first version of the Open-face seed took its error over the whole output of the network (section 6).
    """
    legal = ~scores.isneginf()
    return regression(scores[legal], targets[:, None].expand_as(scores)[legal], kind)


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


def averaged_bootstrap(action_values: Tensor, order: str) -> Tensor:
    """[N] worth of a decision by the action values [N, M, A] of M sampled successors, minus infinity where illegal.

    `mean_of_maxima` is 1/M Σ_j max_a Q'(s_j, a), an unbiased sample of Bellman's expectation: each successor is
    answered when it is seen. `maximum_of_mean` is max_a 1/M Σ_j Q'(s_j, a), as Tan and Xiao (2018), section 5.2, print
    it: one answer to all of them, so never more. A successor without legal actions (the game is over) counts 0;
    an action must be legal in all the others, and where none is, the mean of maxima stands in.
    """
    dead = action_values.isneginf().all(dim=-1, keepdim=True)
    action_values = torch.where(dead, torch.zeros_like(action_values), action_values)
    means = action_values.max(dim=-1).values.mean(dim=-1)
    if order == "mean_of_maxima":
        return means
    best = action_values.mean(dim=1).max(dim=-1).values
    return torch.where(best.isneginf(), means, best)


def explained_variance(predicted: Tensor, targets: Tensor) -> Tensor:
    """1 − Var(targets − predicted) / Var(targets): 1 is perfect, 0 no better than the mean."""
    spread = targets.var()
    return torch.where(spread > 0, 1.0 - (targets - predicted).var() / spread, torch.zeros_like(spread))
