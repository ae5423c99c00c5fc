"""Losses of a clipped policy gradient."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class PolicyTerms:
    """Means over a minibatch, each a scalar tensor."""

    surrogate: Tensor  # to be minimised
    approx_kl: Tensor  # estimated KL of the behaviour policy from this one
    clip_fraction: Tensor  # share of decisions whose ratio was clipped


def mean_entropy(log_probabilities: Tensor, num_decisions: int) -> Tensor:
    """The mean entropy, nats per decision, of log-probabilities [K] of all that is legal in those decisions."""
    return -(log_probabilities * log_probabilities.exp()).sum() / num_decisions


def clipped_surrogate(
    log_probabilities: Tensor, behaviour: Tensor, advantages: Tensor, clip_range: Tensor
) -> PolicyTerms:
    """The terms of PPO for the actions taken: log-probabilities [N], those when they were chosen, and advantages [N].

    L = −mean(min(ρ·Â, clip(ρ, 1−ε, 1+ε)·Â)), ρ = π(a)/π_old(a) (Schulman et al. 2017, equation 7); the KL divergence
    is estimated by mean(ρ − 1 − log ρ), unbiased and never negative (Schulman 2020, "Approximating KL Divergence").
    """
    log_ratio = log_probabilities - behaviour
    ratio = log_ratio.exp()
    limited = ratio.clamp(1.0 - clip_range, 1.0 + clip_range)
    surrogate = -torch.minimum(ratio * advantages, limited * advantages).mean()
    with torch.no_grad():
        approx_kl = (ratio - 1.0 - log_ratio).mean()
        clip_fraction = ((ratio - 1.0).abs() > clip_range).float().mean()
    return PolicyTerms(surrogate, approx_kl, clip_fraction)
