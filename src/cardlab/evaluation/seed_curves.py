"""Learning curves of one method over seeds: their mean with a band, and scores at equal decisions or CPU minutes.

The bands and intervals are those over seeds (Student's t) on the deals of the curves: other deals may move all curves
together. For a figure with both kinds of luck, play the policies and use `seed_statistics`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from cardlab.evaluation.intervals import CONFIDENCE

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
