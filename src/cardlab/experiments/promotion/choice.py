"""The best seed of a group, chosen on other deals than those on which it is judged."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cardlab.agents.policy_descriptions import game_for
from cardlab.evaluation.evaluate_seeds import evaluate_seeds
from cardlab.evaluation.main_score import SELF
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.progress import ProgressCallback, no_progress
from cardlab.experiments.policy_groups import PolicyGroup, policies_by_seed
from cardlab.games.protocol import Game

CHOICE_SEED_OFFSET = 50_000_000  # added to arena.seed: far from the deals of the gate


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
) -> SeedChoice | None:
    """The seed that wins most from the agents `against`, or alone for one player; None for a group of one policy."""
    policies = policies_by_seed(group.policies)
    if len(policies) == 1:
        return None
    arena = replace(arena, references=against, seed=arena.seed + CHOICE_SEED_OFFSET, records=None, until=None)
    evaluation = evaluate_seeds(
        game_for(group.policies[0], game), policies, arena, experiment=group.name, progress=progress
    )
    points: dict[int, float] = {}
    for seed, entry in evaluation["by_seed"].items():
        rows = entry["references"]
        means = [rows[SELF]["mean"]] if SELF in rows else [row["mean"] for row in rows.values()]
        points[int(seed)] = sum(means) / len(means)
    best = max(points, key=lambda seed: points[seed])
    shown = () if game.spec.num_players == 1 else against
    return SeedChoice(best, policies[best], points, shown, arena.deals, arena.seed)
