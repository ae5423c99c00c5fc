"""How strong a trained policy is, on deals of the sweep's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cardlab.arena.intervals import Estimate, PerDeal, estimate
from cardlab.arena.match import play_match
from cardlab.arena.options import ArenaOptions
from cardlab.games.protocol import Game
from cardlab.playing.protocol import Agent
from cardlab.tuning.options import SweepOptions

SWEEP_SEED_OFFSET = 2_000_003
"""Added to `arena.seed`: the deals of a sweep are neither those of training, nor of learning curves, nor of the final
evaluation, whose figure would otherwise be the best of many tries on its own deals."""
SELF = "self"


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


def sweep_arena(options: SweepOptions, arena: ArenaOptions) -> ArenaOptions:
    """How `arena` measures a trial: on as many deals as `sweep.deals` says, all of them, and none of its own."""
    return replace(arena, seed=arena.seed + SWEEP_SEED_OFFSET, deals=options.deals, until=None)


def play_references(game: Game, agent: Agent, arena: ArenaOptions, metric: str) -> dict[str, PerDeal]:
    """Reference → [D] the metric on each deal, the same deals for each of them; alone: `self` → points."""
    others = game.spec.num_players - 1
    figures: dict[str, PerDeal] = {}
    for reference in (arena.references or ("random",)) if others else (SELF,):
        entries = [agent, *[reference] * others]
        match = play_match(game, entries, arena.deals, arena.seed, processes=arena.workers, chunk=arena.chunk)
        figures[reference] = match.wins_per_deal() if metric == "win_rate" else match.per_deal()
    return figures


def combine(trainings: Sequence[Mapping[str, PerDeal]]) -> Strength:
    """The strength over trainings and references, which count alike.

    Averaged deal by deal, so that an interval counts a deal once; it is that of the luck of the cards, given the
    policies, and does not hold how much one training differs from another.
    """
    by_reference = {name: np.mean([training[name] for training in trainings], axis=0) for name in trainings[0]}
    overall = np.mean(list(by_reference.values()), axis=0)
    return Strength(estimate(overall), {name: estimate(figures) for name, figures in by_reference.items()})
