"""Losses and bootstraps of values and action values."""

import torch
from torch import Tensor
from torch.nn import functional


def regression(predicted: Tensor, targets: Tensor, kind: str, weights: Tensor | None = None) -> Tensor:
    """Mean loss of `predicted` [N] against `targets` [N]: squared error (`mse`), or Huber loss with δ = 1 (`huber`).

    `weights` [N] multiply the losses of the decisions; the mean is over N, so they act as step sizes.
    """
    loss_of = functional.mse_loss if kind == "mse" else functional.smooth_l1_loss
    if weights is None:
        return loss_of(predicted, targets)
    return (weights * loss_of(predicted, targets, reduction="none")).mean()


def clipped_regression(predicted: Tensor, targets: Tensor, old: Tensor, clip_range: Tensor) -> Tensor:
    """Mean of the larger squared error [N]: of `predicted`, or of `predicted` within `clip_range` of the `old` value.

    PPO's implementations clip the value as the ratio (Engstrom et al. 2020, section 3).
    """
    near = old + (predicted - old).clamp(-clip_range, clip_range)
    return torch.maximum((predicted - targets).square(), (near - targets).square()).mean()


def regression_of_all(scores: Tensor, targets: Tensor, kind: str) -> Tensor:
    """Mean loss of every legal score in [N, A] against the target [N] of the chosen action.

    This is a mistake of the first program of the Open-face paper (Tan and Xiao 2018, section 6).
    """
    legal = ~scores.isneginf()
    return regression(scores[legal], targets[:, None].expand_as(scores)[legal], kind)


def regression_to_zero(scores: Tensor, actions: Tensor, targets: Tensor, kinds: Tensor) -> Tensor:
    """Mean squared error of all outputs in [N, A], summed over the `kinds` [N] of decision, each with its own mean.

    The target is `targets` [N] at `actions` [N] and 0 at the other outputs; minus infinity is no output.
    """
    wanted = torch.zeros_like(scores).scatter(1, actions[:, None], targets[:, None])
    outputs = ~scores.isneginf()
    errors = torch.where(outputs, scores - wanted, 0.0).square()
    parts = [kinds == kind for kind in kinds.unique()]
    return torch.stack([errors[rows].sum() / outputs[rows].sum() for rows in parts]).sum()


def bootstrap(online: Tensor, target: Tensor, *, double: bool) -> Tensor:
    """Value [N] of the best action by action values [N, A], which are minus infinity where illegal.

    With `double`, the online network chooses the action and the target network evaluates it (van Hasselt et al. 2016,
    equation 4); otherwise the value is the maximum of the target network. Rows without a legal action have value 0.
    """
    over = target.isneginf().all(dim=-1)
    chosen = (online if double else target).argmax(dim=-1, keepdim=True)
    best = target.gather(-1, chosen).squeeze(-1)
    return torch.where(over, torch.zeros_like(best), best)


def averaged_bootstrap(action_values: Tensor, order: str) -> Tensor:
    """Value [N] by the action values [N, M, A] of M sampled successors, which are minus infinity where illegal.

    `mean_of_maxima` is 1/M Σ_j max_a Q'(s_j, a), an unbiased sample of Bellman's expectation. `maximum_of_mean` is
    max_a 1/M Σ_j Q'(s_j, a), as printed by Tan and Xiao (2018), section 5.2: one action for all successors, so never
    more. A successor without legal actions, where the game is over, counts 0. An action must be legal in all other
    successors; if no action is, the result is the mean of maxima.
    """
    over = action_values.isneginf().all(dim=-1, keepdim=True)
    action_values = torch.where(over, torch.zeros_like(action_values), action_values)
    means = action_values.max(dim=-1).values.mean(dim=-1)
    if order == "mean_of_maxima":
        return means
    best = action_values.mean(dim=1).max(dim=-1).values
    return torch.where(best.isneginf(), means, best)


def explained_variance(predicted: Tensor, targets: Tensor) -> Tensor:
    """1 − Var(targets − predicted) / Var(targets): 1 is perfect, 0 equals a constant prediction."""
    variance = targets.var()
    return torch.where(variance > 0, 1.0 - (targets - predicted).var() / variance, torch.zeros_like(variance))
