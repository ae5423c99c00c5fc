"""Optuna's samplers and pruners for the options of `sweep`."""

from typing import Any

import numpy as np
from optuna.pruners import BasePruner, HyperbandPruner, MedianPruner, NopPruner, WilcoxonPruner
from optuna.samplers import BaseSampler, GPSampler, QMCSampler, RandomSampler, TPESampler

from cardlab.experiments.sweep.options import SweepOptions
from cardlab.experiments.sweep.space import Space

STARTUP_TRIALS = 4
"""Complete trials before the median pruner compares."""
STARTUP_BLOCKS = 6
"""Blocks of deals before Wilcoxon's test: five are never significant."""


def make_sampler(options: SweepOptions, order: int) -> BaseSampler:
    """The sampler of one trial, whose index among the proposals is `order`.

    Each trial has its own: a sampler that is seeded once would propose the first values again when the sweep resumes,
    and all workers would propose the same.
    """
    seed = int(np.random.SeedSequence([options.seed, order]).generate_state(1)[0])
    match options.sampler:
        case "tpe":
            return TPESampler(seed=seed)
        case "gp":
            return GPSampler(seed=seed)
        case "qmc":  # one sequence, whose position is in the study
            return QMCSampler(scramble=True, seed=options.seed, independent_sampler=RandomSampler(seed))
        case _:  # all parameters of a grid are set
            return RandomSampler(seed)


def make_pruner(options: SweepOptions, points: int) -> BasePruner:
    """The pruner of a study whose learning curves have `points` points.

    The resource of Hyperband (Li et al. 2018) is the number of points; the median waits for a quarter of the curve.
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
    """All points in random order, so that the trials of a grid that is too large are a fair sample."""
    points = space.grid()
    return [points[place] for place in np.random.default_rng(options.seed).permutation(len(points))]
