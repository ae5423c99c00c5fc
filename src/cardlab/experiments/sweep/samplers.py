"""Optuna's samplers and pruners, as the options of `sweep` ask for them."""

from typing import Any

import numpy as np
from optuna.pruners import BasePruner, HyperbandPruner, MedianPruner, NopPruner, WilcoxonPruner
from optuna.samplers import BaseSampler, GPSampler, QMCSampler, RandomSampler, TPESampler

from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.space import Space

STARTUP_TRIALS = 4
"""Complete ones, before the median says anything."""
STARTUP_BLOCKS = 6
"""Of evaluation deals, before the test of Wilcoxon is asked: with five it cannot be sure whatever they are."""


def make_sampler(options: SweepOptions, order: int) -> BaseSampler:
    """The sampler for the trial of this number in the order of proposals.

    Made for each: a generator that was seeded once would begin again when a sweep resumes, and several workers would
    all propose the same.
    """
    seed = int(np.random.SeedSequence([options.seed, order]).generate_state(1)[0])
    match options.sampler:
        case "tpe":
            return TPESampler(seed=seed)
        case "gp":
            return GPSampler(seed=seed)
        case "qmc":  # one sequence, whose place the study remembers
            return QMCSampler(scramble=True, seed=options.seed, independent_sampler=RandomSampler(seed))
        case _:  # of a grid all parameters are set
            return RandomSampler(seed)


def make_pruner(options: SweepOptions, points: int) -> BasePruner:
    """The pruner of a study whose learning curves have so many `points`.

    Hyperband (Li et al. 2018) gives points as its resource; the median waits for a quarter of the curve.
    """
    match options.pruner:
        case "wilcoxon":
            return WilcoxonPruner(n_startup_steps=STARTUP_BLOCKS)
        case "median":
            return MedianPruner(n_startup_trials=STARTUP_TRIALS, n_warmup_steps=points // 4)
        case "hyperband":
            return HyperbandPruner(min_resource=1, max_resource=points, reduction_factor=3)
        case _:
            return NopPruner()


def grid_points(space: Space, options: SweepOptions) -> list[dict[str, Any]]:
    """All points in random order: of a grid that is too large for its trials, they are then a fair sample."""
    points = space.grid()
    return [points[place] for place in np.random.default_rng(options.seed).permutation(len(points))]
