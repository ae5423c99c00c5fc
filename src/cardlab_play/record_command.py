"""`cardlab play record`: prints the record of each player against each agent."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text as Plain  # without markup: players choose their names

from cardlab.core.options import InvalidOption
from cardlab.experiments.config.build_parts import group
from cardlab_play.agent_catalog import AgentCatalog
from cardlab_play.database import open_database, sqlite_address, sqlite_file
from cardlab_play.options import PlayOptions
from cardlab_play.record import RecordRow, record_rows

_WIDTH = 200  # of a table that is no terminal's
_TEXTS = ("player", "game", "against")  # columns on the left


def print_record(config: Mapping[str, Any], *, as_json: bool) -> int:
    """Print one row for each player, game and agent. Raises InvalidOption or DatabaseError."""
    options = PlayOptions(**group("play", config["play"]))
    player = config["player"]
    game = config.get("game")
    rows = [
        row
        for row in _all_rows(options)
        if (player is None or str(player).casefold() in row.player.casefold())
        and (not game or row.game == game["name"])
    ]
    if as_json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
    elif rows:
        _print_table(rows)
    if not rows:
        print("no finished games that count; `cardlab play` serves the table", file=sys.stderr)
    return 0


def _all_rows(options: PlayOptions) -> list[RecordRow]:
    """The rows of all players. A missing file of sqlite is not created. Raises InvalidOption or DatabaseError."""
    address = options.database or sqlite_address(options.folder)
    file = sqlite_file(address)
    if file is not None and not file.exists():
        if options.database is None:
            return []
        raise InvalidOption("play.database", "…", f"a database that exists; the file {file} does not")
    engine = open_database(address)
    try:
        return record_rows(engine, AgentCatalog(options))
    finally:
        engine.dispose()


def _print_table(rows: Sequence[RecordRow]) -> None:
    terminal = Console(highlight=False)
    console = terminal if terminal.is_terminal else Console(highlight=False, width=_WIDTH)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    cells = [_cells(row) for row in rows]
    for heading in cells[0]:
        table.add_column(heading.rstrip("_"), justify="left" if heading in _TEXTS else "right")
    for texts in cells:
        table.add_row(*map(Plain, texts.values()))
    console.print(table)


def _cells(row: RecordRow) -> dict[str, str]:
    known = row.mean_low is not None and row.mean_high is not None
    return {
        "player": row.player,
        "game": row.game,
        "against": row.against,
        "games": str(row.games),
        "won": str(row.won),
        "tied": str(row.tied),
        "lost": str(row.lost),
        "win rate": f"{row.win_rate:.0%}",
        "95 %": f"{row.win_rate_low:.0%} to {row.win_rate_high:.0%}",
        "points": f"{row.mean:+.2f}" if row.points else "",
        "95 %_": f"{row.mean_low:+.2f} to {row.mean_high:+.2f}" if known and row.points else "",
    }
