"""The best seed of a group, chosen on other deals than those on which it is judged."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cardlab.agents.policy_descriptions import game_for
from cardlab.evaluation.deals import ArenaOptions, Purpose, purpose_seed
from cardlab.evaluation.played_deals import PlayedDeals
from cardlab.evaluation.progress import ProgressCallback, no_progress
from cardlab.evaluation.scores import play_scores, without_part
from cardlab.experiments.policy_groups import PolicyGroup, policies_by_seed
from cardlab.games.protocol import Game


@dataclass(frozen=True)
class SeedChoice:
    """The seed that was chosen from a group."""

    seed: int
    policy: Path
    points: Mapping[int, float]  # seed → points per game, mean over `against`
    against: tuple[str, ...]  # empty for one player
    deals: int
    deals_seed: int

    def figures(self) -> dict[str, Any]:
        """The choice as data."""
        points = {str(seed): value for seed, value in self.points.items()}
        shown = {"seed": self.seed, "points": points, "against": [*self.against]}
        return {**shown, "deals": self.deals, "deals_seed": self.deals_seed}


def choose_seed(
    group: PolicyGroup,
    game: Game,
    against: tuple[str, ...],
    arena: ArenaOptions,
    progress: ProgressCallback = no_progress,
    played: PlayedDeals | None = None,
) -> SeedChoice | None:
    """The seed that wins most from the agents `against`, or alone for one player; None for a group of one policy."""
    policies = policies_by_seed(group.policies)
    if len(policies) == 1:
        return None
    arena = replace(arena, seed=purpose_seed(arena.seed, Purpose.PROMOTION_CHOICE), records=None, until=None)
    alone, own = game.spec.num_players == 1, game_for(group.policies[0], game)
    agents = {seed: str(policy) for seed, policy in policies.items()}
    with without_part():
        table = play_scores(own, agents, () if alone else against, arena, progress=progress, played=played)
    means = {seed: [match.mean for match in table.row(seed).values()] for seed in policies}
    points = {seed: sum(each) / len(each) for seed, each in means.items()}
    best = max(points, key=lambda seed: points[seed])
    shown = () if alone else against
    return SeedChoice(best, policies[best], points, shown, arena.deals, arena.seed)
