"""How strong a trained policy is, on deals of the sweep's own."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cardlab.evaluation.intervals import Estimate, PerDeal, estimate
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.seating import make_lineup
from cardlab.evaluation.workers import Tally, Workers, make_jobs
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Game

SWEEP_SEED_OFFSET = 2_000_003
"""Added to `arena.seed`: the deals of a sweep are neither those of training, nor of learning curves, nor of the final
evaluation, whose figure would otherwise be the best of many tries on its own deals."""
SELF = "self"
BLOCKS = 20
"""Of evaluation deals, when trials are pruned by them: means of blocks are compared, as many for each training."""

Watch = Callable[[float], None]
"""Told the mean of the metric on each block of deals, in their order; raises to stop the match."""


@dataclass(frozen=True)
class Strength:
    """What the trainings of one trial came to."""

    overall: Estimate  # over the references
    by_reference: Mapping[str, Estimate]  # `self` when the game has one player

    def figures(self, metric: str) -> dict[str, float]:
        """The means and intervals by the name under which they are logged."""
        named = {metric: self.overall}
        if len(self.by_reference) > 1:
            named |= {f"{metric}/{name.replace(':', '.')}": figure for name, figure in self.by_reference.items()}
        return {
            f"sweep/{name}{end}": value
            for name, figure in named.items()
            for end, value in (("", figure.mean), ("_low", figure.low), ("_high", figure.high))
        }


def cores_per_worker(workers: int) -> int:
    """Of this machine's cores that this process may use, those that one of so many `workers` has to itself."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable // workers)


def sweep_arena(options: SweepOptions, arena: ArenaOptions) -> ArenaOptions:
    """How `arena` measures a trial: on as many deals as `sweep.deals` says, all of them, and none of its own."""
    processes = min(arena.workers, cores_per_worker(options.workers)) if options.workers > 1 else arena.processes
    chunk = arena.chunk if options.pruner != "wilcoxon" else -(-options.deals // BLOCKS)
    own = {"seed": arena.seed + SWEEP_SEED_OFFSET, "deals": options.deals, "until": None, "records": None}
    return replace(arena, **own, processes=processes, chunk=chunk)


def play_references(
    game: Game, agent: Agent, arena: ArenaOptions, metric: str, watch: Watch = lambda _: None
) -> dict[str, PerDeal]:
    """Reference → [D] the metric on each deal, the same deals for each of them; alone: `self` → points."""
    others = game.spec.num_players - 1
    names = (arena.references or ("random",)) if others else (SELF,)
    lineups = [make_lineup(game, [agent, *[name] * others]) for name in names]
    blocks: list[list[PerDeal]] = []
    with Workers(game, lineups, arena) as workers:
        for tallies in workers.play(make_jobs(workers.lineups, range(len(lineups)), arena)):
            blocks.append([_metric(tally, metric) for tally in tallies])
            watch(float(np.mean(blocks[-1])))
    return {name: np.concatenate([block[place] for block in blocks]) for place, name in enumerate(names)}


def combine(trainings: Sequence[Mapping[str, PerDeal]]) -> Strength:
    """The strength over trainings and references, which count alike.

    Averaged deal by deal, so that an interval counts a deal once; it is that of the luck of the cards, given the
    policies, and does not hold how much one training differs from another.
    """
    by_reference = {name: np.mean([training[name] for training in trainings], axis=0) for name in trainings[0]}
    overall = np.mean(list(by_reference.values()), axis=0)
    return Strength(estimate(overall), {name: estimate(figures) for name, figures in by_reference.items()})


def _metric(tally: Tally, metric: str) -> PerDeal:
    """[D] of the first group, who is the agent."""
    return tally.shares[:, 0] if metric == "win_rate" else tally.points[:, 0]
