"""The gate: a challenger becomes champion when the interval of their difference is above zero.

Where the best agents of a game are equal head to head, a ladder of other agents decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cardlab.agents.policy_descriptions import game_for
from cardlab.core.options import Flag, Text, option, options
from cardlab.evaluation.deals import Purpose, pair_seed, purpose_seed
from cardlab.evaluation.intervals import (
    MIN_DEALS_TO_STOP,
    Estimate,
    PerDeal,
    confidence_sequence_interval,
    estimate,
)
from cardlab.evaluation.match import Match, paired
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.progress import ProgressCallback, no_progress
from cardlab.evaluation.scores import ScoreTable, from_part, play_matches, play_scores, without_part
from cardlab.evaluation.seating import make_lineup
from cardlab.evaluation.workers import PARALLEL_GAMES_TO_STOP
from cardlab.experiments.policy_groups import PolicyGroup, policies_by_seed
from cardlab.games.protocol import Game


@options("")
class PromotionOptions:
    """How a promotion decides: opponents, early stopping."""

    reference: Text = option("random", "agent that the first champion of a game must beat")
    ladder: tuple[Text, ...] = option(
        (),
        "agents against which it must score more than the champion, without losing to the champion; "
        "empty: it must beat the champion",
    )
    sequential: Flag = option(
        False, "true: stop as soon as the result is clear, by an interval that holds at every look"
    )
    accept_equal: Flag = option(
        False, "true: a policy that is not weaker replaces the champion, too, as one that can be trained again"
    )


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
    played: Path | None = None,
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


FORMAT = 1


@dataclass(frozen=True)
class Contender:
    """One side of a challenge."""

    name: str  # shown: of an experiment or a scripted agent, or `champion`
    agent: str  # as for `load_agent`
    digest: str  # policy digest; empty for a scripted agent


@dataclass(frozen=True)
class Ladder:
    """Both sides against other agents on the same deals."""

    agents: tuple[str, ...]
    difference: Estimate  # points per game, challenger minus opponent, mean over the agents


@dataclass(frozen=True)
class PromotionDecision:
    """The result of a challenge."""

    challenger: Contender
    opponent: Contender
    difference: Estimate  # points per game, challenger minus opponent, on the same deals
    games: int
    seed: int
    sequential: bool
    ladder: Ladder | None = None  # if one was played
    choice: SeedChoice | None = None  # if the challenger is one of several seeds
    accept_equal: bool = False  # whether a challenger that is not weaker is accepted

    @property
    def accepted(self) -> bool:
        """Whether the challenger becomes champion: it beats the champion, or gains on the ladder and does not lose.

        In neither case can two agents each replace the other, unless equal ones are accepted.
        """
        if self.accept_equal:
            return self.difference.high >= 0 and (self.ladder is None or self.ladder.difference.high >= 0)
        if self.ladder is None:
            return self.difference.low > 0
        return self.ladder.difference.low > 0 and self.difference.high > 0

    def figures(self) -> dict[str, Any]:
        """The decision as data, without times, paths or run ids."""
        figures: dict[str, Any] = {
            "format": FORMAT,
            "accepted": self.accepted,
            "challenger": {"name": self.challenger.name, "digest": self.challenger.digest},
            "opponent": {"name": self.opponent.name, "digest": self.opponent.digest},
            "difference": self.difference.named("mean"),
            "interval": "95 %, confidence sequence" if self.sequential else "95 %",
            "deals": self.difference.deals,
            "games": self.games,
            "seed": self.seed,
        }
        if self.accept_equal:
            figures["accept_equal"] = True
        if self.ladder is not None:
            figures["ladder"] = {"agents": [*self.ladder.agents], "difference": self.ladder.difference.named("mean")}
        if self.choice is not None:
            figures["choice"] = self.choice.figures()
        return figures


def decide(
    game: Game,
    challenger: Contender,
    opponent: Contender,
    arena: ArenaOptions,
    options: PromotionOptions,
    progress: ProgressCallback = no_progress,
    played: Path | None = None,
) -> PromotionDecision:
    """Play both on the same deals in every seating; the difference is paired by deal.

    With several players each side has half of the seats (of an odd number, the larger and the smaller half in turn), so
    that exchanging the two changes only the sign. A single player plays the same deals alone. The deals depend on
    `arena.seed` and both digests, so that no challenger is judged on deals on which another was chosen. With
    `options.sequential` the match ends when the interval excludes zero; with `arena.until`, at that half-width. With
    `options.ladder` each side then plays P − 1 copies of each ladder agent, on all of `arena.deals`. Ctrl-C raises
    Interrupted with the figures of the deals so far, which are kept in `played`.
    """
    seed = pair_seed(arena.seed, (side.digest or side.agent for side in (challenger, opponent)))
    arena = replace(arena, seed=seed, records=None)
    entries = _entries(game, challenger, opponent)
    if arena.chunk is None and options.sequential:
        most = max(make_lineup(game, agents).num_seatings for agents in entries.values())
        arena = replace(arena, chunk=-(-PARALLEL_GAMES_TO_STOP // most))

    def difference(matches: Sequence[Match]) -> Estimate:
        per_deal, bounds = _differences(matches), matches[0].lineup.difference_range
        if options.sequential:
            return confidence_sequence_interval(per_deal, arena.deals, bounds)
        return estimate(per_deal, bounds)

    def is_clear(matches: Sequence[Match]) -> bool:
        return _is_clear(difference(matches), arena, options)

    def decision(matches: Mapping[int, Match]) -> PromotionDecision:
        measured = difference(list(matches.values()))
        games = measured.deals * sum(match.lineup.num_seatings for match in matches.values())
        decided = PromotionDecision(challenger, opponent, measured, games, seed, options.sequential)
        return replace(decided, accept_equal=options.accept_equal)

    label = f"{challenger.name} against {opponent.name}"
    play = partial(play_matches, game, entries, arena, together=lambda _: 0, enough=is_clear, label=label)
    decided = from_part(partial(play, progress=progress, played=played), decision)
    if not options.ladder:
        return decided
    agents, whole = {0: challenger.agent, 1: opponent.agent}, replace(arena, until=None)
    climb = partial(play_scores, game, agents, options.ladder, whole, together=lambda key: key[1], progress=progress)
    return from_part(partial(climb, played=played), lambda table: replace(decided, ladder=_ladder(table)))


def _ladder(table: ScoreTable[int]) -> Ladder:
    """The challenger, agent 0, against the opponent, agent 1; the agents have as many deals each."""
    differences = [paired(*(match.per_deal() for match in table.column(name))) for name in table.references]
    deals = min(map(len, differences))
    means = np.mean([each[:deals] for each in differences], axis=0)
    bounds = table.column(table.references[0])[0].lineup.difference_range
    return Ladder(tuple(table.references), estimate(means, bounds))


def _entries(game: Game, challenger: Contender, opponent: Contender) -> dict[int, list[str]]:
    """Share of the challenger → agents of a match; one player: each plays alone."""
    players = game.spec.num_players
    if players == 1:
        return {0: [challenger.agent], 1: [opponent.agent]}
    shares = sorted({players // 2, players - players // 2})
    return {share: [challenger.agent] * share + [opponent.agent] * (players - share) for share in shares}


def _differences(matches: Sequence[Match]) -> PerDeal:
    """[D] points per game, challenger minus opponent."""
    first = matches[0].tally.points
    if first.shape[1] == 1:
        return paired(first[:, 0], matches[1].per_deal())
    return np.mean([match.tally.points[:, 0] - match.tally.points[:, 1] for match in matches], axis=0)


def _is_clear(measured: Estimate, arena: ArenaOptions, options: PromotionOptions) -> bool:
    """Whether the match may stop."""
    if measured.deals < MIN_DEALS_TO_STOP:
        return False
    decided = options.sequential and (measured.low > 0 or measured.high < 0)
    return decided or (arena.until is not None and 0 < measured.half_width <= arena.until)


def format_part(decision: PromotionDecision, deals: int) -> str:
    """The difference of an interrupted challenge, in one line."""
    part = decision.difference if decision.ladder is None else decision.ladder.difference
    return (
        f"not decided: difference {part.mean:+.3f} points per game, 95 % interval {part.low:+.3f} to {part.high:+.3f}, "
        f"{part.deals:,} of {deals:,} deals{'' if decision.ladder is None else ' of the ladder'}"
    )
