"""Confidence sequences: intervals that hold at every look, so that a match may stop at any time."""

from math import log, sqrt

from cardlab.evaluation.intervals import CONFIDENCE, Estimate, PerDeal


def confidence_sequence_interval(per_deal: PerDeal, planned: int) -> Estimate:
    """Mean of `per_deal` [D] with an interval of a 95 % confidence sequence, narrowest near `planned` deals.

    All intervals of the sequence cover the mean simultaneously with 95 %: mean ±
    s · √(2(Dρ² + 1) / (D²ρ²) · log(√(Dρ² + 1) / α)), the Gaussian mixture boundary of Waudby-Smith et al., Time-uniform
    central limit theory and asymptotic confidence sequences (arXiv 2103.06476). Not for the first few deals.
    """
    deals = len(per_deal)
    mean, spread = float(per_deal.mean()), float(per_deal.std())
    alpha = 1 - CONFIDENCE
    weight = deals * (-2 * log(alpha) + log(-2 * log(alpha)) + 1) / planned  # Dρ²: narrowest at D = planned
    half = spread * sqrt(2 * (weight + 1) / (deals * weight) * log(sqrt(weight + 1) / alpha))
    return Estimate(mean, mean - half, mean + half, deals)
