"""What the stage `evaluate` measures beside scores: statistics of games, and matches between snapshots.

The cross table of snapshots shows cycling: a training that cycles beats its latest snapshots and loses to older ones,
whatever its curve against a fixed reference is.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.evaluation.evaluate import evaluate
from cardlab.evaluation.intervals import SELF
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.pairings import cycles, play_pairings
from cardlab.evaluation.progress import ProgressCallback, no_progress
from cardlab.evaluation.seating import Entry, Lineup, make_lineup
from cardlab.evaluation.workers import ChunkPlayer, make_jobs
from cardlab.games.abilities import OutcomeCounts, find_ability
from cardlab.games.make_game import without_training_options
from cardlab.games.protocol import Game

FORMAT = 1
SnapshotMatches = dict[str, Any]
"""The content of snapshots.json; see `play_snapshots`."""


@dataclass(frozen=True)
class Snapshot:
    """A policy saved during training."""

    decisions: int  # of training before it
    agent: str  # the policy's folder
    digest: str


def find_snapshots(folder: Path) -> list[Path]:
    """The policies in `folder`, oldest first: its sub-folders that are named by decisions."""
    return sorted((path for path in folder.glob("[0-9]*") if path.name.isdigit()), key=lambda path: int(path.name))


def play_snapshots(
    game: Game,
    snapshots: Sequence[Snapshot],
    options: ArenaOptions,
    *,
    experiment: str,
    progress: ProgressCallback = no_progress,
) -> SnapshotMatches:
    """Play each of `snapshots` against each reference and each earlier snapshot, on the same deals.

    `references`: reference → one row of `evaluate` per snapshot. `margins`: [later, earlier, mean, low, high] of each
    pair of places: points per game of the later over the earlier, as in a tournament. `cycles`: non-transitive triples
    of places. Each match has `options.pairing_deals` deals.
    """
    options = options.for_pairings()
    references: dict[str, list[dict[str, Any]]] = {}
    for snapshot in snapshots:
        labelled = partial(_labelled, progress, f"{snapshot.decisions} decisions")
        evaluation = evaluate(
            game, snapshot.agent, options, policy_digest=snapshot.digest, experiment=experiment, progress=labelled
        )
        for reference, figures in evaluation["references"].items():
            references.setdefault(reference, []).append(figures)
    pairs = [(earlier.agent, later.agent) for earlier, later in combinations(snapshots, 2)]
    played = play_pairings(game, pairs, options, progress)
    places = combinations(range(len(snapshots)), 2)
    margins = {place: pairing.margin for place, pairing in zip(places, played, strict=True)}
    return {
        "format": FORMAT,
        "experiment": experiment,
        "game": game.spec.name,
        "num_players": game.spec.num_players,
        "deals": options.deals,
        "seed": options.seed,
        "decisions": [snapshot.decisions for snapshot in snapshots],
        "digests": [snapshot.digest for snapshot in snapshots],
        "references": references,
        "margins": [
            [later, earlier, -margin.mean, -margin.high, -margin.low] for (earlier, later), margin in margins.items()
        ],
        "cycles": [{"places": list(cycle.places), "sure": cycle.sure} for cycle in cycles(len(snapshots), margins)],
    }


def _labelled(progress: ProgressCallback, label: str, reference: str, done: int, most: int) -> None:
    progress(f"{label} against {reference}", done, most)


def write_snapshot_scores(matches: SnapshotMatches, path: Path) -> None:
    """Write one CSV row per snapshot, for plots.

    `score` is the mean of points over the references (the policy's own mean for one player); `REFERENCE`, `…_low` and
    `…_high` are points with their interval; `previous` is the margin over the previous snapshot, empty for the first.
    """
    references = {name: rows for name, rows in matches["references"].items() if not _is_other(name, matches)}
    before = {later: figures for later, earlier, *figures in matches["margins"] if earlier == later - 1}
    names = [*references, "previous"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["decisions", "score", *(name + end for name in names for end in ("", "_low", "_high"))])
        for place, decisions in enumerate(matches["decisions"]):
            rows = [[rows[place][key] for key in ("mean", "low", "high")] for rows in references.values()]
            score = sum(row[0] for row in rows) / len(rows)
            figures = [figure for row in rows for figure in row] + list(before.get(place, ["", "", ""]))
            writer.writerow([decisions, *(f"{x:.6g}" if isinstance(x, float) else x for x in (score, *figures))])


def _is_other(name: str, matches: SnapshotMatches) -> bool:
    """Whether a row is the mean of a reference itself: for one player all but SELF."""
    return matches["num_players"] == 1 and name != SELF


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
