"""Means, differences and 95 % intervals over trainings with other seeds, which contain the luck of seeds and of deals.

S policies of one method play the same D deals. The model is score[s, d] = μ + a_s + b_d + e_sd: a_s is the luck of a
seed, b_d that of a deal, which all seeds share. The variance of the mean has two parts (analysis of variance, two-way
random effects, one score in each cell):

    seeds  V_S = s²(score[s, ·]) / S                          estimates (σ_a² + σ_e² / D) / S, S − 1 degrees of freedom
    deals  V_D = max(0, s²(score[·, d]) / D − MS_e / (S·D))   estimates σ_b² / D, D − 1 degrees of freedom

with MS_e the mean square of the residuals. The interval is mean ± (V_S·t_S + V_D·t_D) / √(V_S + V_D). t_S and t_D are
quantiles of Student's t with the degrees of freedom of each part. It is Cochran and Cox's for the sum of two variances
(Experimental Designs, 1957). Satterthwaite's degrees of freedom for the sum cover too little with 3 seeds, and a
bootstrap much less. tests/evaluation/test_seed_coverage.py measures the coverage.

Learning curves of one method have bands and intervals over seeds (Student's t) on the deals of the curves: other deals
may move all curves together. For a figure with both kinds of luck, play the policies and use the model above.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from cardlab.evaluation.intervals import CONFIDENCE, Bounds, Estimate, PerDeal, bounded

Scores = NDArray[np.float64] | Sequence[PerDeal]
"""[S, D] scores of S trainings on the same D deals; rows of other lengths count up to the shortest."""
POWER = 0.8
"""Probability with which `seeds_to_decide` more seeds decide, if the true difference is the measured one."""
MAX_SEEDS = 1000
"""`seeds_to_decide` advises no more."""
_TRIM = 0.25  # of the seeds at each end: the interquartile mean
_RESAMPLES = 200
_UPPER = (1 + CONFIDENCE) / 2


@dataclass(frozen=True)
class _Part:
    """A part of the variance of a figure and its degrees of freedom; infinite where it cannot be estimated."""

    variance: float
    freedom: float


def mean_over_seeds(scores: Scores, bounds: Bounds | None = None) -> Estimate:
    """Mean over seeds and deals; its interval is infinite for one seed or one deal, and stays within `bounds`."""
    table = shared_deals(scores)
    return _estimate(float(table.mean()), _seeds_part(table), _deals_part([table]), table.shape, bounds)


def iqm_over_seeds(scores: Scores, bounds: Bounds | None = None) -> Estimate:
    """Interquartile mean over seeds of their mean scores: without the best and the worst ⌊S / 4⌋.

    Agarwal et al., Deep reinforcement learning at the edge of the statistical precipice (arXiv 2108.13264). For 3 seeds
    it is the mean. Of h seeds kept, the part of the seeds is V_S = s_w²·(S − 1) / (h·(h − 1)) with h − 1 degrees of
    freedom and s_w² the Winsorised variance: Yuen, The two-sample trimmed t for unequal population variances (1974).
    """
    from scipy.stats import trim_mean  # noqa: PLC0415 (takes half a second to import)

    table = shared_deals(scores)
    means, seeds = table.mean(axis=1), len(table)
    trimmed = int(_TRIM * seeds)
    kept = seeds - 2 * trimmed
    ordered = np.sort(means)
    winsorised = ordered.clip(ordered[trimmed], ordered[-1 - trimmed])
    part = _Part(inf, 1)
    if seeds > 1:
        part = _Part(float(winsorised.var(ddof=1)) * (seeds - 1) / (kept * (kept - 1)), kept - 1)
    return _estimate(float(trim_mean(means, _TRIM)), part, _deals_part([table]), table.shape, bounds)


def difference(first: Scores, second: Scores, bounds: Bounds | None = None) -> Estimate:
    """Mean of `first` minus that of `second`, paired by deal; `seeds` is that of the method with fewer.

    `bounds`: those of the difference on one deal.

    The seeds of both are independent: their parts of the variance are added, with the degrees of freedom of Welch, The
    generalization of 'Student's' problem (1947). The part of the deals is that of the differences on each deal.
    """
    return contrast((first, second), (1.0, -1.0), bounds)


def contrast(scores: Sequence[Scores], weights: Sequence[float], bounds: Bounds | None = None) -> Estimate:
    """Weighted sum of the means of several methods, which play the same deals; intervals as of `difference`."""
    tables = _same_deals(*scores)
    mean = sum(weight * float(table.mean()) for weight, table in zip(weights, tables, strict=True))
    seeds = _sum_of_parts([_seeds_part(table, weight) for weight, table in zip(weights, tables, strict=True)])
    return _estimate(mean, seeds, _deals_part(tables, weights), _shape(tables), bounds)


def probability_of_improvement(first: Scores, second: Scores) -> Estimate:
    """Probability θ that a training of `first` has a higher mean score than one of `second`; equal scores count half.

    θ = U / (S₁·S₂), U of Mann and Whitney (1947). The seeds' interval holds every θ with (θ − U / (S₁·S₂))² ≤ t²·V(θ),

        V(θ) = θ·(1 − θ)·(1 + n·((1 − θ) / (2 − θ) + θ / (1 + θ))) / (S₁·S₂),   n = (S₁ + S₂) / 2 − 1,

    method 5 of Newcombe, Confidence intervals for an effect size measure based on the Mann–Whitney statistic, part 2
    (2006), with Student's t of S₁ + S₂ − 2 degrees of freedom. Its distances from θ and the luck of the deals, 1.96
    standard deviations of θ over bootstrap samples of the deals, are added as squares.
    """
    tables = _same_deals(first, second)
    sizes = len(tables[0]), len(tables[1])
    theta = float(_theta(tables[0].mean(axis=1)[:, None], tables[1].mean(axis=1)[:, None])[0])
    seeds, deals = _shape(tables)
    if sum(sizes) < 3:
        return Estimate(theta, 0.0, 1.0, deals, seeds)
    low, high = _newcombe(theta, sizes, float(stdtrit(sum(sizes) - 2, _UPPER)))
    weights = np.random.default_rng(0).multinomial(deals, np.full(deals, 1 / deals), _RESAMPLES).T / deals
    luck = float(ndtri(_UPPER) * _theta(tables[0] @ weights, tables[1] @ weights).std(ddof=1))
    low, high = (theta - np.hypot(theta - low, luck), theta + np.hypot(high - theta, luck))
    return Estimate(theta, max(0.0, float(low)), min(1.0, float(high)), deals, seeds)


def seeds_to_decide(first: Scores, second: Scores) -> int | None:
    """About how many more seeds of each method would decide which is better; 0 if their difference is decided.

    The least N for which |difference| ≥ half-width + z(POWER)·√V, with the measured variances and S + N seeds. None
    where MAX_SEEDS would not do (more deals may) and where neither method has two seeds.
    """
    measured = difference(first, second)
    if measured.low > 0 or measured.high < 0:
        return 0
    tables = _same_deals(first, second)
    known = [float(table.mean(axis=1).var(ddof=1)) for table in tables if len(table) > 1]
    deals = _deals_part(tables, (1.0, -1.0))
    if not known or deals.variance == inf:
        return None
    spread = known if len(known) == 2 else known * 2
    for more in range(1, MAX_SEEDS + 1):
        sizes = [len(table) + more for table in tables]
        seeds = _sum_of_parts([_Part(one / size, size - 1) for one, size in zip(spread, sizes, strict=True)])
        margin = float(ndtri(POWER)) * sqrt(seeds.variance + deals.variance)
        if abs(measured.mean) >= _half_width(seeds, deals) + margin:
            return more
    return None


def shared_deals(scores: Scores) -> NDArray[np.float64]:
    """[S, D] the scores on the deals that all rows have: the first D, as deals have numbers."""
    if isinstance(scores, np.ndarray):
        return scores
    deals = min(map(len, scores))
    return np.stack([row[:deals] for row in scores])


def _same_deals(*scores: Scores) -> list[NDArray[np.float64]]:
    tables = [shared_deals(each) for each in scores]
    deals = min(table.shape[1] for table in tables)
    return [table[:, :deals] for table in tables]


def _shape(tables: Sequence[NDArray[np.float64]]) -> tuple[int, int]:
    """Seeds of the method with fewer, and deals."""
    return min(map(len, tables)), tables[0].shape[1]


def _seeds_part(table: NDArray[np.float64], weight: float = 1.0) -> _Part:
    seeds = len(table)
    if seeds < 2:
        return _Part(inf if weight else 0.0, 1)
    return _Part(weight**2 * float(table.mean(axis=1).var(ddof=1)) / seeds, seeds - 1)


def _deals_part(tables: Sequence[NDArray[np.float64]], weights: Sequence[float] = (1.0,)) -> _Part:
    """The part of the deals in the weighted sum of the tables' means."""
    deals = tables[0].shape[1]
    if deals < 2:
        return _Part(inf, 1)
    weighted = list(zip(weights, tables, strict=True))
    means = np.sum([weight * table.mean(axis=0) for weight, table in weighted], axis=0)
    residual = sum(
        weight**2 * _mean_square_residual(one) / (len(one) * deals) for weight, one in weighted if len(one) > 1
    )
    return _Part(max(0.0, float(means.var(ddof=1)) / deals - residual), deals - 1)


def _mean_square_residual(table: NDArray[np.float64]) -> float:
    """MS_e of the two-way table without its row and column means, (S − 1)·(D − 1) degrees of freedom."""
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    return float((rest**2).sum()) / ((len(table) - 1) * (table.shape[1] - 1))


def _sum_of_parts(parts: Sequence[_Part]) -> _Part:
    """The sum of independent parts, with Welch's degrees of freedom."""
    total = sum(part.variance for part in parts)
    if total in (0, inf):
        return _Part(total, min(part.freedom for part in parts))
    return _Part(total, total**2 / sum(part.variance**2 / part.freedom for part in parts))


def _half_width(seeds: _Part, deals: _Part) -> float:
    """(V_S·t_S + V_D·t_D) / √(V_S + V_D)."""
    total = seeds.variance + deals.variance
    if total in (0, inf):
        return total
    weighted = sum(part.variance * float(stdtrit(part.freedom, _UPPER)) for part in (seeds, deals))
    return weighted / sqrt(total)


def _estimate(mean: float, seeds: _Part, deals: _Part, shape: tuple[int, ...], bounds: Bounds | None) -> Estimate:
    return Estimate(mean, *bounded(mean, _half_width(seeds, deals), shape[1], bounds), shape[1], shape[0])


def _theta(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """[B] share of pairs in which a row of `first` [S₁, B] is above one of `second` [S₂, B]; equal rows count half."""
    return (0.5 + 0.5 * np.sign(first[:, None] - second[None])).mean(axis=(0, 1))


def _newcombe(theta: float, sizes: tuple[int, int], quantile: float) -> tuple[float, float]:
    from scipy.optimize import brentq  # noqa: PLC0415 (slow to import)

    pairs, spare = sizes[0] * sizes[1], sum(sizes) / 2 - 1

    def excess(other: float) -> float:
        inner = 1 + spare * ((1 - other) / (2 - other) + other / (1 + other))
        return (other - theta) ** 2 - quantile**2 * other * (1 - other) * inner / pairs

    solve: Any = brentq
    tiny = 1e-9  # θ = 0 and θ = 1 are roots themselves
    low = 0.0 if theta == 0 else solve(excess, 0.0, min(theta, 1 - tiny))
    high = 1.0 if theta == 1 else solve(excess, max(theta, tiny), 1.0)
    return low, high


Floats = NDArray[np.float64]
Curve = tuple[Floats, Floats]
"""Decisions or CPU minutes [K], increasing, and the score at each [K]."""


@dataclass(frozen=True)
class Band:
    """The mean of S curves at K places with its 95 % interval at each."""

    at: Floats  # [K]
    mean: Floats  # [K]
    low: Floats  # [K] −inf for one curve
    high: Floats  # [K]
    seeds: int


def common_range(curves: Sequence[Curve]) -> tuple[float, float]:
    """The first and last place that all curves reach, also those of several methods."""
    return max(float(at[0]) for at, _ in curves), min(float(at[-1]) for at, _ in curves)


def common_grid(curves: Sequence[Curve]) -> Floats:
    """[K] all places of all curves within their common range."""
    first, last = common_range(curves)
    places = np.unique(np.concatenate([at for at, _ in curves]))
    return places[(places >= first) & (places <= last)]


def band_over_seeds(curves: Sequence[Curve], grid: Floats | None = None) -> Band:
    """Mean ± t(S − 1, 0.975)·s / √S at each place of `grid`, by default `common_grid`; linear between points."""
    places = common_grid(curves) if grid is None else grid
    return _band(places, np.stack([np.interp(places, *curve) for curve in curves]))


def score_at(curves: Sequence[Curve], place: float) -> Band:
    """The score after the same decisions or CPU minutes: a band of one place."""
    return band_over_seeds(curves, np.array([place]))


def _band(places: Floats, scores: Floats) -> Band:
    """The band of scores [S, K]."""
    seeds, mean = len(scores), scores.mean(axis=0)
    half = np.full(len(places), np.inf)
    if seeds > 1:
        half = stdtrit(seeds - 1, (1 + CONFIDENCE) / 2) * scores.std(axis=0, ddof=1) / np.sqrt(seeds)
    return Band(places, mean, mean - half, mean + half, seeds)
