"""Returns, advantages, and losses of values.

The decisions of one player in one game are adjacent and in time order; `ends` marks the last of each. A reward is the
payoff between a decision and the player's next one, or the end of the game. A discount γ is one number, or [N] with one
for each decision, since a game whose turns have several decisions may discount per turn.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from cardlab.core.kernels import kernel
from cardlab.games.protocol import Bools, Floats


def lambda_returns(
    rewards: Floats, values: Floats, ends: Bools, gamma: float | Floats, lambda_: float | NDArray[np.float64]
) -> Floats:
    """λ-returns [N] of decisions with these `values` [N]; `lambda_` is one number, or [N] with one per decision.

    G_t = r_t + γ·((1 − λ)·v_{t+1} + λ·G_{t+1}), and G_t = r_t at the end (Sutton and Barto 2018, equation 12.2,
    in its recursive form). λ = 1 gives the Monte Carlo return, λ = 0 the one-step target. λ_t = 0 cuts off all
    rewards after decision t + 1.
    """
    lambdas = np.broadcast_to(np.float64(lambda_), rewards.shape).copy()
    return _lambda_returns(rewards, values, ends, _per_decision(gamma, rewards), lambdas)


@kernel
def _lambda_returns(
    rewards: Floats, values: Floats, ends: Bools, gammas: Floats, lambdas: NDArray[np.float64]
) -> Floats:
    returns = np.empty_like(rewards)
    following = np.float32(0.0)
    for t in range(rewards.shape[0] - 1, -1, -1):
        if ends[t]:
            following = rewards[t]
        else:
            ahead = (1.0 - lambdas[t]) * values[t + 1] + lambdas[t] * following
            following = np.float32(rewards[t] + gammas[t] * ahead)
        returns[t] = following
    return returns


def averaged_returns(rewards: Floats, targets: Floats, ends: Bools, gamma: float | Floats, lambda_: float) -> Floats:
    """λ-returns [N] from one-step `targets` [N] that are averaged over sampled successors.

    G_t = (1 − λ)·B_t + λ·(r_t + γ·G_{t+1}), and G_t = (1 − λ)·B_t + λ·r_t at the end. The target B_t is the mean of
    r_j + γ·v_j over successors j. If B_t = r_t + γ·v_{t+1}, the result equals `lambda_returns`.
    """
    return _averaged_returns(rewards, targets, ends, _per_decision(gamma, rewards), lambda_)


@kernel
def _averaged_returns(rewards: Floats, targets: Floats, ends: Bools, gammas: Floats, lambda_: float) -> Floats:
    returns = np.empty_like(rewards)
    following = np.float32(0.0)
    for t in range(rewards.shape[0] - 1, -1, -1):
        observed = rewards[t] if ends[t] else rewards[t] + gammas[t] * following
        following = np.float32((1.0 - lambda_) * targets[t] + lambda_ * observed)
        returns[t] = following
    return returns


def advantages(returns: Floats, values: Floats) -> Floats:
    """Generalised advantage estimates [N]: λ-return minus value (Schulman et al. 2016, equation 16)."""
    return returns - values


def n_step_returns(
    rewards: Floats, ends: Bools, gamma: float | Floats, steps: int
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Discounted sums of the next `steps` rewards [N], discounts of the bootstrap [N], and indices of it [N].

    The target of decision t is sums[t] + discounts[t] · value(indices[t]). If the game ends within the steps, the
    discount is 0 and the index is t. `steps` = 0 sums to the end of the game (Monte Carlo).
    """
    return _n_step_returns(rewards, ends, _per_decision(gamma, rewards), steps)


@kernel
def _n_step_returns(
    rewards: Floats, ends: Bools, gammas: Floats, steps: int
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    num = rewards.shape[0]
    sums = np.empty(num, dtype=np.float32)
    discounts = np.zeros(num, dtype=np.float32)
    following = np.arange(num)
    for t in range(num):
        total = 0.0
        discount = 1.0
        at = t
        remaining = steps
        while True:
            total += discount * rewards[at]
            discount *= gammas[at]
            remaining -= 1
            if ends[at]:
                break
            at += 1
            if remaining == 0:
                discounts[t] = discount
                following[t] = at
                break
        sums[t] = total
    return sums, discounts, following


@kernel
def end_weights(ends: Bools, decay: float) -> Floats:
    """Weights decay^d [N], where d counts the later decisions of the player in the game; 1 for the last decision."""
    weights = np.empty(ends.shape[0], dtype=np.float32)
    weight = np.float32(1.0)
    for t in range(ends.shape[0] - 1, -1, -1):
        weight = np.float32(1.0) if ends[t] else np.float32(weight * decay)
        weights[t] = weight
    return weights


def turn_discounts(kinds: NDArray[np.int8], gamma: float, same_turn: Sequence[int]) -> Floats:
    """Discount [N] after each decision: 1 if the next decision is of a kind in `same_turn`, else `gamma`.

    `kinds` [N] are the kinds of the decisions. A decision of such a kind has the discount of the decision before it.
    """
    following = np.append(np.isin(kinds, same_turn)[1:], False)
    return np.where(following, np.float32(1.0), np.float32(gamma)).astype(np.float32)


def _per_decision(gamma: float | Floats, rewards: Floats) -> Floats:
    return np.broadcast_to(np.float32(gamma), rewards.shape).copy()


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
