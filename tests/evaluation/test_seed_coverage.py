"""How often 95 % intervals over seeds and deals hold the truth, for ratios of the luck of seeds to that of deals."""

from collections.abc import Callable

import numpy as np
import pytest

from cardlab.evaluation.intervals import SHARE, Estimate, estimate
from cardlab.evaluation.seed_statistics import (
    difference,
    iqm_over_seeds,
    mean_over_seeds,
    probability_of_improvement,
)

DEALS = 50
REPEATS = 1000
RATIOS = (0.0, 1.0, 4.0, 100.0)
"""Variance of the mean by seeds, as a multiple of that by deals."""


def simulate(seeds: int, ratio: float, rng: np.random.Generator, shared: float = 1.0) -> np.ndarray:
    """[R, S, D] scores around 0: a_s + b_d + e_sd with σ_b = `shared` and σ_e = 1."""
    spread = np.sqrt(ratio * seeds * (shared**2 + 1 / seeds) / DEALS)
    luck_of_seeds = rng.normal(0, spread, (REPEATS, seeds, 1)) if spread else 0.0
    return luck_of_seeds + rng.normal(0, shared, (REPEATS, 1, DEALS)) + rng.normal(size=(REPEATS, seeds, DEALS))


def coverage(estimates: list[Estimate], truth: float = 0.0) -> float:
    return float(np.mean([one.low <= truth <= one.high for one in estimates]))


@pytest.mark.parametrize("seeds", [3, 5, 10])
@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("center", [mean_over_seeds, iqm_over_seeds])
def test_one_method(center: Callable[..., Estimate], ratio: float, seeds: int) -> None:
    tables = simulate(seeds, ratio, np.random.default_rng(1))
    assert 0.92 <= coverage([center(table) for table in tables]) <= 0.98


@pytest.mark.parametrize("seeds", [(3, 3), (5, 5), (10, 10), (3, 5)])
@pytest.mark.parametrize("ratios", [(0.0, 0.0), (1.0, 1.0), (4.0, 0.0), (100.0, 100.0)])
def test_a_difference(ratios: tuple[float, float], seeds: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    common = rng.normal(0, 3, (REPEATS, 1, DEALS))  # luck of the deals that both methods share
    pair = [common + simulate(count, ratio, rng) for count, ratio in zip(seeds, ratios, strict=True)]
    assert 0.92 <= coverage([difference(*tables) for tables in zip(*pair, strict=True)]) <= 0.98


@pytest.mark.parametrize("seeds", [3, 5, 10])
@pytest.mark.parametrize(("ahead", "truth"), [(0.0, 0.5), (0.74, 0.7), (1.81, 0.9)])
def test_the_probability_of_improvement(ahead: float, truth: float, seeds: int) -> None:
    """Seeds of equal spread; `ahead` in their standard deviations: θ = Φ(ahead / √2). Rank intervals are discrete."""
    rng = np.random.default_rng(3)
    ratio = 4.0
    spread = np.sqrt(ratio * seeds * (0.25 + 1 / seeds) / DEALS)
    first, second = (simulate(seeds, ratio, rng, shared=0.5)[:300] for _ in range(2))
    found = [probability_of_improvement(a + ahead * spread, b) for a, b in zip(first, second, strict=True)]
    assert coverage(found, truth) >= 0.92


@pytest.mark.parametrize("seeds", [3, 5])
def test_one_training_says_too_little(seeds: int) -> None:
    """What the intervals are for: the luck of seeds is missing in an interval over deals alone."""
    tables = simulate(seeds, 4.0, np.random.default_rng(4))
    halves = 2.01 * tables.mean(axis=1).std(axis=1, ddof=1) / np.sqrt(DEALS)
    assert np.mean(np.abs(tables.mean(axis=(1, 2))) <= halves) < 0.75


@pytest.mark.parametrize("share", [0.01, 0.05, 0.5, 0.95, 0.99])
@pytest.mark.parametrize("seeds", [1, 3, 5])
@pytest.mark.parametrize("deals", [50, 200, 2000])
def test_a_share(deals: int, seeds: int, share: float) -> None:
    """Also at the edges, where mean ± t·s / √D covers 40 % at worst; and not much wider than it must be."""
    rng = np.random.default_rng(5)
    tables = rng.binomial(2, share, (600, seeds, deals)) / 2  # two games of each deal
    found = [estimate(table[0], SHARE) if seeds == 1 else mean_over_seeds(table, SHARE) for table in tables]
    assert all(0 <= one.low < one.high <= 1 for one in found)
    assert coverage(found, share) >= 0.93
    if 0.05 <= share <= 0.95 and deals >= 200:
        assert coverage(found, share) <= 0.98


@pytest.mark.parametrize("payoff", [-1.0, 0.0, 1.0])
def test_equal_deals_have_a_width_within_the_bounds(payoff: float) -> None:
    """A deal in 300 that ends otherwise may be missing among 300 deals."""
    found = estimate(np.full(300, payoff), (-1.0, 1.0))
    assert found.mean == payoff
    assert -1 <= found.low <= payoff <= found.high <= 1
    assert found.half_width == pytest.approx(0.0122, abs=0.0001)
