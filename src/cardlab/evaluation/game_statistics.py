"""Statistics of the games of a policy: length and outcomes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.seating import Entry, Lineup, make_lineup
from cardlab.evaluation.workers import ChunkPlayer, make_jobs
from cardlab.games.abilities import OutcomeCounts, find_ability
from cardlab.games.make_game import without_training_options
from cardlab.games.protocol import Game

_ACTION_KINDS = "decisions of each kind"

GameStatistics = dict[str, Any]
"""The content of game_statistics.json, with a calibration; see `measure_games`."""


@dataclass(frozen=True)
class _Games:
    """Some games of one lineup."""

    lengths: NDArray[np.int64]  # [G] decisions, forced moves included
    outcomes: list[OutcomeCounts]
    first: NDArray[np.bool_]  # [G, P] seats of the first agent


def measure_games(game: Game, policy: Entry, opponent: str, options: ArenaOptions) -> GameStatistics:
    """Measure length and outcomes of the games of `policy` against P − 1 copies of `opponent`.

    `length`: mean and counts by number of decisions. `outcomes`: means per game and player, of the `policy` and of the
    `others`. For one player both play the same deals alone. `options.pairing_deals` deals are played.
    """
    game, options = without_training_options(game), options.for_pairings()
    others = game.spec.num_players - 1
    tables = [[policy, *[opponent] * others]] if others else [[policy], [opponent]]
    played = [_play(game, make_lineup(game, table), options) for table in tables]
    own, rest = played[0], played[-1]
    pairs = zip(own.outcomes, rest.outcomes, strict=True)
    return {
        "against": opponent,
        "games": len(own.lengths),
        "length": _lengths(own.lengths),
        "outcomes": [
            {
                "title": mine.title,
                "labels": list(mine.labels),
                "policy": _mean(mine, own.first),
                "others": _mean(theirs, ~rest.first if others else rest.first),
            }
            for mine, theirs in pairs
        ],
    }


def _play(game: Game, lineup: Lineup, options: ArenaOptions) -> _Games:
    player = ChunkPlayer(game, [lineup])
    parts = [_play_chunk(game, player, job) for job in make_jobs([lineup], [0], options)]
    outcomes = [
        OutcomeCounts(same[0].title, same[0].labels, np.concatenate([one.counts for one in same]))
        for same in zip(*(part.outcomes for part in parts), strict=True)
    ]
    return _Games(np.concatenate([p.lengths for p in parts]), outcomes, np.concatenate([p.first for p in parts]))


def _play_chunk(game: Game, player: ChunkPlayer, job: Any) -> _Games:
    states = player.deal(job, 0)
    reader: Any = find_ability(game, "outcomes")
    groups = getattr(reader, "ACTION_GROUPS", np.zeros(game.spec.num_actions, dtype=np.int8))
    names: tuple[str, ...] = getattr(reader, "ACTION_NAMES", ())
    actions = np.zeros((len(states), game.spec.num_players, len(names) or 1), dtype=np.float32)
    for moves in player.moves(job, 0, states):
        actions[moves.rows, moves.players, groups[moves.actions]] += 1
    lengths = actions.sum(axis=(1, 2)).astype(np.int64)
    outcomes = [] if reader is None else _own_players(reader.read(states), game.spec.num_players)
    if names:
        outcomes.append(OutcomeCounts(_ACTION_KINDS, names, actions))
    return _Games(lengths, outcomes, np.tile(player.lineups[0].seatings == 0, (job.last - job.first, 1)))


def _own_players(outcomes: Sequence[OutcomeCounts], num_players: int) -> list[OutcomeCounts]:
    """Without the seats beyond `num_players`."""
    return [OutcomeCounts(one.title, one.labels, one.counts[:, :num_players]) for one in outcomes]


def _mean(outcome: OutcomeCounts, seats: NDArray[np.bool_]) -> list[float]:
    """[L] per game and player, over the players at `seats` [G, P]."""
    return [round(float(mean), 6) for mean in outcome.counts[seats].mean(axis=0, dtype=np.float64)]


def _lengths(lengths: NDArray[np.int64]) -> dict[str, Any]:
    numbers, counts = np.unique(lengths, return_counts=True)
    return {
        "mean": round(float(lengths.mean()), 6),
        "counts": {str(number): int(count) for number, count in zip(numbers, counts, strict=True)},
    }
