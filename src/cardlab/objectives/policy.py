"""The losses of a clipped policy gradient."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class PolicyTerms:
    """Means over a minibatch, each a scalar tensor."""

    surrogate: Tensor  # to be minimised
    entropy: Tensor  # nats per decision
    divergence: Tensor  # estimated KL of the behaviour policy from this one
    clipped: Tensor  # share of decisions whose ratio was clipped


def entropy_of(log_probabilities: Tensor) -> Tensor:
    """[N] entropies, nats, of log-probabilities [N, A] that are minus infinity where illegal."""
    finite = log_probabilities.masked_fill(log_probabilities.isneginf(), 0.0)
    return -(finite * log_probabilities.exp()).sum(dim=-1)


def clipped_surrogate(
    scores: Tensor, actions: Tensor, behaviour: Tensor, advantages: Tensor, clip_range: float
) -> PolicyTerms:
    """The terms of PPO for scores [N, A], actions [N], behaviour log-probabilities [N] and advantages [N].

    The columns may be all actions or slots of legal ones (`LegalPairs.table`); `actions` are columns.

    L = −mean(min(ρ·Â, clip(ρ, 1−ε, 1+ε)·Â)), ρ = π(a)/π_old(a) (Schulman et al. 2017, equation 7); the divergence
    is mean(ρ − 1 − log ρ), which is unbiased and never negative (Schulman 2020, "Approximating KL divergence").
    """
    log_probabilities = scores.log_softmax(dim=-1)
    log_ratio = log_probabilities.gather(1, actions[:, None]).squeeze(1) - behaviour
    ratio = log_ratio.exp()
    limited = ratio.clamp(1.0 - clip_range, 1.0 + clip_range)
    surrogate = -torch.minimum(ratio * advantages, limited * advantages).mean()
    with torch.no_grad():
        divergence = (ratio - 1.0 - log_ratio).mean()
        clipped = ((ratio - 1.0).abs() > clip_range).float().mean()
    return PolicyTerms(surrogate, entropy_of(log_probabilities).mean(), divergence, clipped)
