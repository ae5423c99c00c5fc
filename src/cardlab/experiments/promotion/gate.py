"""The gate: a challenger becomes champion when the interval of their difference is above zero.

Where the best agents of a game are equal head to head, a ladder of other agents decides.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from cardlab.evaluation.intervals import (
    MIN_DEALS_TO_STOP,
    Estimate,
    PerDeal,
    confidence_sequence_interval,
    estimate,
)
from cardlab.evaluation.match import compare, paired, play_lineups
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.progress import ProgressCallback, no_progress
from cardlab.evaluation.seating import Lineup, make_lineup
from cardlab.evaluation.workers import PARALLEL_GAMES_TO_STOP, Tally, Workers
from cardlab.experiments.promotion.choice import SeedChoice
from cardlab.experiments.promotion.options import PromotionOptions
from cardlab.games.protocol import Game

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

    @property
    def accepted(self) -> bool:
        """Whether the challenger becomes champion: it beats the champion, or gains on the ladder and does not lose.

        In neither case can two agents each replace the other.
        """
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
) -> PromotionDecision:
    """Play both on the same deals in every seating; the difference is paired by deal.

    With several players each side has half of the seats (of an odd number, the larger and the smaller half in turn), so
    that exchanging the two changes only the sign. A single player plays the same deals alone. The deals depend on
    `arena.seed` and both digests, so that no challenger is judged on deals on which another was chosen. With
    `options.sequential` the match ends when the interval excludes zero; with `arena.until`, at that half-width. With
    `options.ladder` each side then plays P − 1 copies of each ladder agent, on all of `arena.deals`.
    """
    seed = _seed_of(arena.seed, challenger, opponent)
    arena = replace(arena, seed=seed, records=None)
    lineups = _lineups(game, challenger, opponent)
    if arena.chunk is None and options.sequential:
        arena = replace(arena, chunk=-(-PARALLEL_GAMES_TO_STOP // max(lineup.num_seatings for lineup in lineups)))

    def difference(tallies: Sequence[Tally]) -> Estimate:
        per_deal = _differences(tallies)
        return confidence_sequence_interval(per_deal, arena.deals) if options.sequential else estimate(per_deal)

    def is_clear(tallies: Sequence[Tally]) -> bool:
        return _is_clear(difference(tallies), arena, options)

    label = f"{challenger.name} against {opponent.name}"
    with Workers(game, lineups, arena) as workers:
        measured = difference(play_lineups(workers, range(len(lineups)), arena, is_clear, partial(progress, label)))
    games = measured.deals * sum(lineup.num_seatings for lineup in lineups)
    ladder = _play_ladder(game, challenger, opponent, arena, options.ladder, progress) if options.ladder else None
    return PromotionDecision(challenger, opponent, measured, games, seed, options.sequential, ladder)


def _play_ladder(
    game: Game,
    challenger: Contender,
    opponent: Contender,
    arena: ArenaOptions,
    agents: Sequence[str],
    progress: ProgressCallback,
) -> Ladder:
    differences: list[PerDeal] = []
    for name in agents:
        field = [name] * (game.spec.num_players - 1)
        both = compare(game, challenger.agent, opponent.agent, field, arena, partial(progress, name))
        differences.append(paired(both.first.per_deal(), both.second.per_deal()))
    return Ladder(tuple(agents), estimate(np.mean(differences, axis=0)))


def _lineups(game: Game, challenger: Contender, opponent: Contender) -> list[Lineup]:
    players = game.spec.num_players
    if players == 1:
        return [make_lineup(game, [side.agent]) for side in (challenger, opponent)]
    shares = sorted({players // 2, players - players // 2})
    sides = [[challenger.agent] * share + [opponent.agent] * (players - share) for share in shares]
    return [make_lineup(game, entries) for entries in sides]


def _differences(tallies: Sequence[Tally]) -> PerDeal:
    """[D] points per game, challenger minus opponent."""
    first = tallies[0].points
    if first.shape[1] == 1:
        return paired(first[:, 0], tallies[1].points[:, 0])
    return np.mean([tally.points[:, 0] - tally.points[:, 1] for tally in tallies], axis=0)


def _is_clear(measured: Estimate, arena: ArenaOptions, options: PromotionOptions) -> bool:
    """Whether the match may stop."""
    if measured.deals < MIN_DEALS_TO_STOP:
        return False
    decided = options.sequential and (measured.low > 0 or measured.high < 0)
    return decided or (arena.until is not None and 0 < measured.half_width <= arena.until)


def _seed_of(base: int, challenger: Contender, opponent: Contender) -> int:
    """A seed that depends on the pair, not on its order."""
    names = sorted(side.digest or side.agent for side in (challenger, opponent))
    return base + int.from_bytes(hashlib.sha256("\0".join(names).encode()).digest()[:5], "big")
