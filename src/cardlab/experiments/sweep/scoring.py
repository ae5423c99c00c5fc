"""The score of a trained policy in a sweep, on deals of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from cardlab.agents.registry import load_agent
from cardlab.core.child_processes import usable_cores
from cardlab.evaluation.deals import Purpose, purpose_seed
from cardlab.evaluation.intervals import SHARE, Bounds, Estimate, PerDeal, estimate, estimate_metrics
from cardlab.evaluation.match import Match
from cardlab.evaluation.options import DEFAULT_REFERENCES, ArenaOptions
from cardlab.evaluation.scores import play_scores
from cardlab.evaluation.seating import Entry
from cardlab.experiments.sweep.options import SweepOptions
from cardlab.games.abilities import find_exploitability
from cardlab.games.protocol import Game

NUM_BLOCKS = 20  # blocks of deals of each training's match, for sweep.pruner=wilcoxon, which compares their means

BlockCallback = Callable[[float], None]
"""Gets the mean of the metric on each block of deals, in order; raises to stop the match."""


@dataclass(frozen=True)
class TrialScore:
    """The metric of the sweep over the trainings of one trial."""

    overall: Estimate  # over the references
    by_reference: Mapping[str, Estimate]  # `self` when the game has one player
    per_deal: PerDeal  # mean over trainings and references

    def metrics(self, name: str) -> dict[str, float]:
        """Means and intervals under the names that are logged; `name` is the sweep's metric."""
        named = {name: self.overall}
        if len(self.by_reference) > 1:
            named |= {f"{name}/{agent.replace(':', '.')}": score for agent, score in self.by_reference.items()}
        return estimate_metrics({f"sweep/{key}": score for key, score in named.items()})


def cores_per_worker(workers: int) -> int:
    """The share of each of `workers` processes in the cores of this machine."""
    return max(1, usable_cores() // workers)


def sweep_arena(options: SweepOptions, arena: ArenaOptions, purpose: Purpose = Purpose.SWEEP) -> ArenaOptions:
    """`arena` with `sweep.deals` deals of `purpose`.

    On the deals of an evaluation, the best of many trials would flatter itself.
    """
    processes = min(arena.workers_of([]), cores_per_worker(options.workers)) if options.workers > 1 else arena.processes
    chunk = arena.chunk if options.pruner != "wilcoxon" else -(-options.deals // NUM_BLOCKS)
    seed = purpose_seed(arena.seed, purpose)
    return replace(arena, seed=seed, deals=options.deals, until=None, records=None, processes=processes, chunk=chunk)


def play_references(
    game: Game,
    agent: Entry,
    arena: ArenaOptions,
    metric: str,
    on_block: BlockCallback | None = None,
    played: Path | None = None,
) -> dict[str, PerDeal]:
    """Reference → [D] the metric on each deal, the same deals for each of them; alone: `self` → points."""
    if metric == "exploitability":
        (value,) = find_exploitability(game, "sweep.metric").measure(game, load_agent(game, str(agent))).values()
        return {"self": np.full(2, -value)}  # as on two deals: it has no luck of the cards
    seen = 0

    def scores(match: Match) -> PerDeal:
        return (match.tally.shares if metric == "win_rate" else match.tally.points)[:, 0]  # column 0 is the agent

    def report(matches: Sequence[Match]) -> bool:
        nonlocal seen
        if on_block is not None:
            on_block(float(np.mean([scores(match)[seen:] for match in matches])))
        seen = matches[0].num_deals
        return False

    references = (arena.references or DEFAULT_REFERENCES) if game.spec.num_players > 1 else ()
    table = play_scores(game, {0: agent}, references, arena, together=lambda _: 0, enough=report, played=played)
    return {name: scores(match) for name, match in table.row(0).items()}


def metric_bounds(game: Game, metric: str) -> Bounds | None:
    """The least and the greatest value of `metric` on one deal; None for one that no deal has a value of."""
    if metric == "exploitability":
        return None
    return SHARE if metric == "win_rate" else game.spec.payoff_range


def combine(trainings: Sequence[Mapping[str, PerDeal]], bounds: Bounds | None = None) -> TrialScore:
    """The score over trainings and references, with equal weights; `bounds` are those of the metric on one deal.

    Scores are averaged deal by deal, so that an interval counts a deal once. The interval covers the luck of the cards
    for these policies; it does not cover the differences between trainings.
    """
    by_reference = {name: np.mean([training[name] for training in trainings], axis=0) for name in trainings[0]}
    overall = np.mean(list(by_reference.values()), axis=0)
    estimates = {name: estimate(scores, bounds) for name, scores in by_reference.items()}
    return TrialScore(estimate(overall, bounds), estimates, overall)
