"""Figures over seeds and deals: pairing, edge cases, advice on more seeds, curves."""

from math import inf

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from cardlab.evaluation.seed_statistics import (
    band_over_seeds,
    common_grid,
    difference,
    iqm_over_seeds,
    mean_over_seeds,
    probability_of_improvement,
    score_at,
    seeds_to_decide,
)


def method(seeds: int, level: float, spread: float, rng: np.random.Generator, deals: int = 400) -> np.ndarray:
    """[S, D] scores with the luck of seeds `spread`."""
    return level + rng.normal(0, spread, (seeds, 1)) + rng.normal(size=(seeds, deals))


def test_luck_of_shared_deals_cancels_in_a_difference_only() -> None:
    rng = np.random.default_rng(0)
    first, second = method(5, 0.2, 0.02, rng), method(5, 0.0, 0.02, rng)
    luck = rng.normal(0, 10, 400)
    plain, moved = difference(first, second), difference(first + luck, second + luck)
    assert (moved.mean, moved.low, moved.high) == pytest.approx((plain.mean, plain.low, plain.high))
    assert mean_over_seeds(first + luck).half_width > 10 * mean_over_seeds(first).half_width


def test_exchanging_the_methods_changes_only_the_sign() -> None:
    rng = np.random.default_rng(1)
    first, second = method(3, 0.1, 0.1, rng), method(5, 0.0, 0.1, rng)
    one, other = difference(first, second), difference(second, first)
    assert (one.mean, one.low, one.high) == pytest.approx((-other.mean, -other.high, -other.low))
    one, other = probability_of_improvement(first, second), probability_of_improvement(second, first)
    assert (one.mean, one.low, one.high) == pytest.approx((1 - other.mean, 1 - other.high, 1 - other.low))


def test_what_is_counted_stands_with_the_figure() -> None:
    rng = np.random.default_rng(2)
    rows = [rng.normal(size=deals) for deals in (30, 50, 40)]
    found = mean_over_seeds(rows)
    assert (found.seeds, found.deals) == (3, 30)
    assert found.mean == pytest.approx(np.mean([row[:30] for row in rows]))
    found = difference(rows, method(5, 0.0, 0.1, rng))
    assert (found.seeds, found.deals) == (3, 30)


def test_one_seed_or_one_deal_says_nothing_of_the_method() -> None:
    rng = np.random.default_rng(3)
    one, many = method(1, 0.0, 1.0, rng), method(4, 0.0, 1.0, rng)
    for found in (mean_over_seeds(one), iqm_over_seeds(one), difference(one, many), mean_over_seeds(many[:, :1])):
        assert (found.low, found.high) == (-inf, inf)
    found = probability_of_improvement(one, one)
    assert (found.mean, found.low, found.high) == (0.5, 0.0, 1.0)
    assert seeds_to_decide(one, one) is None


def test_the_interquartile_mean_leaves_the_extremes_out() -> None:
    scores = np.arange(10.0)[:, None] + np.zeros((10, 4))
    scores[9] = 1000.0
    assert iqm_over_seeds(scores).mean == pytest.approx(4.5)
    assert mean_over_seeds(scores).mean > 100


def test_the_probability_of_improvement_is_that_of_mann_and_whitney() -> None:
    rng = np.random.default_rng(4)
    first, second = method(6, 0.2, 0.3, rng), method(4, 0.0, 0.3, rng)
    u = mannwhitneyu(first.mean(axis=1), second.mean(axis=1)).statistic
    assert probability_of_improvement(first, second).mean == pytest.approx(u / 24)
    ahead = probability_of_improvement(first[:3] + 100, second[:3])
    assert ahead.mean == 1.0
    assert ahead.low < 0.5, "three seeds against three cannot decide by ranks: 1 of 10 orders each way"
    assert probability_of_improvement(first + 100, second + 1).low > 0.5


def test_the_advised_number_of_seeds_decides() -> None:
    """Of fresh trainings with as many seeds as advised, about 80 in 100 give a difference above 0."""
    rng = np.random.default_rng(5)
    first, second = (np.linspace(-1, 1, 4)[:, None] * 0.3 + rng.normal(size=(4, 400)) for _ in range(2))
    first += 0.25 - difference(first, second).mean
    more = seeds_to_decide(first, second)
    assert more is not None
    assert more > 5
    spread = float(first.mean(axis=1).std(ddof=1))
    tables = [[method(4 + more, level, spread, rng) for level in (0.25, 0.0)] for _ in range(200)]
    assert 0.7 < np.mean([difference(*pair).low > 0 for pair in tables]) < 0.9
    assert seeds_to_decide(first + 10, second) == 0


def test_seeds_do_not_decide_what_the_deals_leave_open() -> None:
    rng = np.random.default_rng(6)
    luck = rng.normal(0, 10, 50)
    assert seeds_to_decide(method(5, 0.1, 0.0, rng, 50) + luck, method(5, 0.0, 0.0, rng, 50)) is None


CURVES = [
    (np.array([0.0, 10.0, 20.0]), np.array([0.0, 1.0, 2.0])),
    (np.array([5.0, 15.0, 30.0]), np.array([1.0, 2.0, 2.0])),
]


def test_curves_meet_on_their_common_range() -> None:
    band = band_over_seeds(CURVES)
    assert band.at.tolist() == common_grid(CURVES).tolist() == [5, 10, 15, 20]
    assert band.mean.tolist() == pytest.approx([0.75, 1.25, 1.75, 2.0])
    assert band.high[0] - band.mean[0] == pytest.approx(12.706 * 0.25, rel=1e-3), "t(1)·s/√2"
    assert (band.low[3], band.high[3], band.seeds) == (2.0, 2.0, 2)
    assert band_over_seeds(CURVES[:1]).high[0] == inf


def test_scores_at_an_equal_budget() -> None:
    assert score_at(CURVES, 12.5).mean.tolist() == pytest.approx([(1.25 + 1.75) / 2])
