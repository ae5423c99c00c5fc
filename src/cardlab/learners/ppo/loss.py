"""The loss of PPO: clipped surrogate, value and entropy."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from cardlab.learners.losses import clipped_regression, regression
from cardlab.networks.inputs import LegalPairs


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


def magnet_loss(log_probabilities: Tensor, magnet: Tensor, num_decisions: int) -> Tensor:
    """Mean KL(policy ‖ magnet) in nats per decision, of log-probabilities [K] of all legal actions.

    With a magnet that moves slowly, self-play of two comes to rest (Sokota et al. 2023, arXiv 2206.05825).
    """
    return (log_probabilities.exp() * (log_probabilities - magnet)).sum() / num_decisions


@dataclass(frozen=True, slots=True)
class LossInputs:
    """Inputs of the loss of N decisions, besides the network's outputs."""

    pairs: LegalPairs
    taken: Tensor  # [N] places in `pairs` of the actions taken
    old_log_probabilities: Tensor  # [N] of the actions taken, when they were chosen
    advantages: Tensor  # [N] standardised
    returns: Tensor  # [N]
    old_values: Tensor | None  # [N] predicted when the actions were chosen; None: the value is not clipped
    clip_range: Tensor  # scalar; a Python number would be compiled again whenever it changes
    entropy_weight: Tensor  # scalar


LOSS_METRICS = ("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")


def ppo_loss(scores: Tensor, values: Tensor, inputs: LossInputs, value_weight: float) -> tuple[Tensor, Tensor]:
    """The loss of scores [K] and values [N], and its LOSS_METRICS [5] (Schulman et al. 2017, equation 9)."""
    log_probabilities = inputs.pairs.log_softmax(scores)
    chosen = log_probabilities.index_select(0, inputs.taken)
    terms = clipped_surrogate(chosen, inputs.old_log_probabilities, inputs.advantages, inputs.clip_range)
    entropy = mean_entropy(log_probabilities, len(inputs.taken))
    if inputs.old_values is None:
        value_loss = regression(values, inputs.returns, "mse")
    else:
        value_loss = clipped_regression(values, inputs.returns, inputs.old_values, inputs.clip_range)
    loss = terms.surrogate - inputs.entropy_weight * entropy + value_weight * value_loss
    metrics = (terms.surrogate, value_loss, entropy, terms.approx_kl, terms.clip_fraction)
    return loss, torch.stack([metric.detach() for metric in metrics])


@cache
def compiled_ppo_loss() -> Any:
    """`ppo_loss`, compiled at its first call; importing the compiler takes a second."""
    return torch.compile(ppo_loss, dynamic=True)
