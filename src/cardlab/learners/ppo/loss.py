"""Losses of clipped policy gradients."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class PolicyTerms:
    """Means over a minibatch, as scalar tensors."""

    surrogate: Tensor  # the loss
    approx_kl: Tensor  # estimate of KL(behaviour policy ‖ policy), in nats
    clip_fraction: Tensor  # share of decisions whose ratio was clipped


def mean_entropy(log_probabilities: Tensor, num_decisions: int) -> Tensor:
    """Mean entropy in nats per decision, of the log-probabilities [K] of all legal actions of the decisions."""
    return -(log_probabilities * log_probabilities.exp()).sum() / num_decisions


def clipped_surrogate(
    log_probabilities: Tensor, behaviour: Tensor, advantages: Tensor, clip_range: Tensor
) -> PolicyTerms:
    """PPO's terms of the chosen actions: log-probabilities [N], those of the behaviour policy [N], advantages [N].

    L = −mean(min(ρ·Â, clip(ρ, 1−ε, 1+ε)·Â)), ρ = π(a)/π_old(a) (Schulman et al. 2017, equation 7). The KL divergence is
    mean(ρ − 1 − log ρ), which is unbiased and never negative (Schulman 2020, "Approximating KL divergence").
    """
    log_ratio = log_probabilities - behaviour
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1.0 - clip_range, 1.0 + clip_range)
    surrogate = -torch.minimum(ratio * advantages, clipped * advantages).mean()
    with torch.no_grad():
        approx_kl = (ratio - 1.0 - log_ratio).mean()
        clip_fraction = ((ratio - 1.0).abs() > clip_range).float().mean()
    return PolicyTerms(surrogate, approx_kl, clip_fraction)
