"""Strength through training: policies kept on the way, against fixed references and against each other.

The matrix of past selves is what shows cycling: a training that only walks in circles beats its latest selves and
loses to older ones, whatever its curve against a fixed reference says.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

from cardlab.core.files import write_whole
from cardlab.core.options import InvalidOption
from cardlab.evaluation.evaluate import SELF, evaluate
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.pairings import Pairing, pairing_lineups, play_pairing
from cardlab.evaluation.progress import Watch, watch_nothing
from cardlab.evaluation.ratings import cycles
from cardlab.evaluation.workers import Workers
from cardlab.games.protocol import Game

FORMAT = 1

History = dict[str, Any]
"""What is written as past_selves.json; see `play_history`."""


@dataclass(frozen=True)
class Snapshot:
    """A policy that was kept on the way."""

    decisions: int  # that it had learned from
    agent: str  # the policy's folder
    digest: str


def find_snapshots(folder: Path) -> list[Path]:
    """The policies in `folder`, each in one named by its decisions, oldest first; InvalidOption for other names."""
    found = [path for path in folder.glob("*") if path.is_dir()] if folder.is_dir() else []
    for path in found:
        if not path.name.isdigit():
            raise InvalidOption("snapshots", path, "folders named by a number of decisions")
    return sorted(found, key=lambda path: int(path.name))


def play_history(
    game: Game,
    snapshots: Sequence[Snapshot],
    options: ArenaOptions,
    *,
    experiment: str,
    watch: Watch = watch_nothing,
) -> History:
    """Each of `snapshots` against each reference, and against each that came before it, on the same deals.

    `references`: reference → one row of `evaluate` for each snapshot. `margins`: [later, earlier, mean, low, high] for
    each pair, by place: what the later one makes more than the earlier in points a game, as in a tournament. `cycles`:
    triples of places that beat each other in a circle. All matches have `options.pairing_deals` deals.
    """
    options = options.for_pairings()
    references: dict[str, list[dict[str, Any]]] = {}
    for snapshot in snapshots:
        told = partial(_labelled, watch, f"{snapshot.decisions} decisions")
        evaluation = evaluate(
            game, snapshot.agent, options, policy_digest=snapshot.digest, experiment=experiment, watch=told
        )
        for reference, figures in evaluation["references"].items():
            references.setdefault(reference, []).append(figures)
    pairings = _play_pairs(game, [snapshot.agent for snapshot in snapshots], options, watch)
    margins = {pair: (kept.margin.mean, kept.margin.low, kept.margin.high) for pair, kept in pairings.items()}
    places = [str(place) for place in range(len(snapshots))]
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
        "margins": [[later, earlier, -mean, -high, -low] for (earlier, later), (mean, low, high) in margins.items()],
        "cycles": [
            {"places": [int(name) for name in cycle.names], "sure": cycle.sure} for cycle in cycles(places, margins)
        ],
    }


def _play_pairs(
    game: Game, agents: Sequence[str], options: ArenaOptions, watch: Watch
) -> Mapping[tuple[int, int], Pairing]:
    """(earlier, later) → their pairing."""
    pairs = list(combinations(range(len(agents)), 2))
    tables = [pairing_lineups(game, agents[earlier], agents[later]) for earlier, later in pairs]
    played: dict[tuple[int, int], Pairing] = {}
    with Workers(game, [lineup for table in tables for lineup in table], options.workers, options.launcher) as workers:
        start = 0
        for pair, table in zip(pairs, tables, strict=True):
            places = range(start, start + len(table))
            start += len(table)
            watch("past selves", len(played), len(pairs))
            names = (agents[pair[0]], agents[pair[1]])
            played[pair] = play_pairing(workers, places, names, options, watch)
    return played


def _labelled(watch: Watch, label: str, reference: str, done: int, most: int) -> None:
    watch(f"{label} against {reference}", done, most)


def write_history(history: History, path: Path) -> None:
    """Write `history` as JSON; the same figures give the same bytes."""
    write_whole(path, json.dumps(history, indent=1) + "\n")


def write_strength(history: History, path: Path) -> None:
    """The history as CSV, one row for each snapshot: what plots read.

    `strength` is the mean of points over the references (the policy's own for one player); `REFERENCE`, `…_low` and
    `…_high` are points with their interval; `previous` is the margin over the snapshot before, none for the first.
    """
    references = {name: rows for name, rows in history["references"].items() if not _is_other(name, history)}
    before = {later: figures for later, earlier, *figures in history["margins"] if earlier == later - 1}
    names = [*references, "previous"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["decisions", "strength", *(name + end for name in names for end in ("", "_low", "_high"))])
        for place, decisions in enumerate(history["decisions"]):
            rows = [[rows[place][key] for key in ("mean", "low", "high")] for rows in references.values()]
            strength = sum(row[0] for row in rows) / len(rows)
            figures = [figure for row in rows for figure in row] + list(before.get(place, ["", "", ""]))
            writer.writerow([decisions, *(f"{x:.6g}" if isinstance(x, float) else x for x in (strength, *figures))])


def _is_other(name: str, history: History) -> bool:
    """Whether a row tells of a reference alone: for one player all but the policy's own."""
    return history["num_players"] == 1 and name != SELF
