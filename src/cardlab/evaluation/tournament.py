"""Round-robin tournaments: cross table, ratings and cycles."""

import csv
import io
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.table import Table
from rich.text import Text  # a name may look like markup

from cardlab.core.files import check_folder, write_atomically, write_json
from cardlab.core.messages import InvalidOption
from cardlab.evaluation.intervals import Estimate
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.pairings import Pairing, Rating, cycles, play_pairings, rate
from cardlab.evaluation.progress import ProgressCallback, no_progress
from cardlab.evaluation.seating import Entry
from cardlab.games.protocol import Game

FORMAT = 1
Pairings = dict[tuple[int, int], Pairing]

Tournament = dict[str, Any]
"""The content of tournament.json; see `run_tournament`."""


def run_tournament(
    game: Game,
    agents: Sequence[str] | Mapping[str, Entry],
    options: ArenaOptions,
    folder: Path,
    *,
    progress: ProgressCallback = no_progress,
) -> Tournament:
    """Play each of `agents` against each other and write tournament.json and tournament.csv into `folder`.

    Two players: a duplicate match of each pair. More: each against copies of the other. One: both play the same deals,
    and a cell is the paired difference. The deals of pairings are kept in `folder`/pairings, from which an interrupted
    tournament resumes; those of agents that are objects, in a dictionary {name: agent}, are played each time.
    InvalidOption for fewer than two agents, for duplicates, and for an unwritable folder.
    """
    names = list(agents)
    entries = agents if isinstance(agents, Mapping) else {name: name for name in names}
    if len(names) < 2 or len(set(names)) < len(names):
        raise InvalidOption("agents", "[" + ",".join(names) + "]", "two or more agents, each named once")
    check_folder("output", str(folder))  # before a game is played in vain
    pairs = {(i, j): (names[i], names[j]) for i, j in combinations(range(len(names)), 2)}
    played = folder / "pairings"
    pairings = play_pairings(game, list(pairs.values()), options, progress, entries, played)
    tournament = summarize(game, names, dict(zip(pairs, pairings, strict=True)), options)
    write_json(folder / "tournament.json", tournament)
    write_atomically(folder / "tournament.csv", _as_csv(tournament))
    return tournament


def summarize(game: Game, names: list[str], pairings: Pairings, options: ArenaOptions) -> Tournament:
    """Figures of the tournament: `cells` (per agent and opponent), `standings` (best first) and `cycles`."""
    cells = [_cell(pairing, side) for pairing in pairings.values() for side in (0, 1)]
    order = {name: place for place, name in enumerate(names)}
    cells.sort(key=lambda cell: (order[cell["agent"]], order[cell["opponent"]]))
    margins = {pair: pairing.margin for pair, pairing in pairings.items()}
    ratings = rate(names, {pair: pairing.duels for pair, pairing in pairings.items()})
    return {
        "format": FORMAT,
        "game": game.spec.name,
        "num_players": game.spec.num_players,
        "deals": options.deals,
        "seed": options.seed,
        "agents": names,
        "standings": [_standing(rating, cells) for rating in ratings],
        "cells": cells,
        "cycles": [
            {"agents": [names[place] for place in cycle.places], "sure": cycle.sure}
            for cycle in cycles(len(names), margins)
        ],
    }


def _cell(pairing: Pairing, side: int) -> dict[str, Any]:
    """One agent against one opponent; for one player `points` is the paired difference, `own` the agent's mean."""
    figure = pairing.points[side]
    cell: dict[str, Any] = {"agent": pairing.names[side], "opponent": pairing.names[1 - side]}
    if pairing.wins is None:
        margin = pairing.margin
        cell["own"] = figure.mean
        figure = margin if side == 0 else Estimate(-margin.mean, -margin.high, -margin.low, margin.deals)
    cell |= figure.named("points")
    if pairing.wins is not None:
        cell |= pairing.wins[side].named("win_rate", "win_rate_")
    return cell | {"deals": figure.deals}


def _standing(rating: Rating, cells: list[dict[str, Any]]) -> dict[str, Any]:
    """An agent's rating with its mean over all opponents."""
    own = [cell for cell in cells if cell["agent"] == rating.name]
    standing: dict[str, Any] = {"agent": rating.name, "mu": rating.mu, "sigma": rating.sigma, "ordinal": rating.ordinal}
    standing["points"] = fmean(cell.get("own", cell["points"]) for cell in own)
    if "win_rate" in own[0]:
        standing["win_rate"] = fmean(cell["win_rate"] for cell in own)
    return standing


def _as_csv(tournament: Tournament) -> str:
    """One row per agent and opponent."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(tournament["cells"][0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(tournament["cells"])
    return text.getvalue()


def tournament_table(tournament: Tournament) -> Table:
    """The cross table for a terminal, best first: points ± half-width of the interval, and win rates."""
    players = f"{tournament['num_players']} player{'s' * (tournament['num_players'] != 1)}"
    title = f"{tournament['game']}, {players}, seed {tournament['seed']}"
    table = Table(title=Text(title), title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    order = [standing["agent"] for standing in tournament["standings"]]
    cells = {(cell["agent"], cell["opponent"]): cell for cell in tournament["cells"]}
    for heading in ("", "agent", "rating", "points"):
        name = heading == "agent"  # whole in a narrow terminal, where figures take two lines
        table.add_column(heading, justify="left" if name else "right", no_wrap=name, overflow="fold")
    for place in range(1, len(order) + 1):
        table.add_column(str(place), justify="right", overflow="fold")  # a figure is never cut
    for place, standing in enumerate(tournament["standings"], start=1):
        agent = standing["agent"]
        row = [_cell_text(cells.get((agent, opponent))) for opponent in order]
        rating = f"{standing['mu']:.1f} ±{standing['sigma']:.1f}"
        table.add_row(str(place), Text(agent), rating, f"{standing['points']:.3f}", *row)
    for cycle in tournament["cycles"]:
        table.caption = Text("\n".join(filter(None, [str(table.caption or ""), _cycle_text(cycle)])))
    return table


def _cell_text(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "·"
    text = f"{cell['points']:.3f} ±{(cell['high'] - cell['low']) / 2:.3f}"
    return f"{text}\n{100 * cell['win_rate']:.1f} %" if "win_rate" in cell else text


def _cycle_text(cycle: dict[str, Any]) -> str:
    agents = cycle["agents"]
    certainty = "all three 95 % intervals agree" if cycle["sure"] else "within the intervals"
    return f"not transitive: {' beats '.join([*agents, agents[0]])} ({certainty})"
