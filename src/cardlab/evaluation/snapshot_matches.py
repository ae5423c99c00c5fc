"""Scores of the snapshots of a training, against fixed references and against each other.

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

from cardlab.evaluation.evaluate import evaluate
from cardlab.evaluation.intervals import SELF
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.pairings import cycles, play_pairings
from cardlab.evaluation.progress import ProgressCallback, no_progress
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
