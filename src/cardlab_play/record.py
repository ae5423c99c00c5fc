"""The record of a player: results against each agent with 95 % intervals. `cardlab play record` prints it."""

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text as Plain  # without markup: players choose their names
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from cardlab.evaluation.intervals import estimate, share_interval
from cardlab.experiments.config.build_parts import group
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.database import (
    FINISHED,
    RESIGNED,
    DealRow,
    GameRow,
    UserRow,
    open_database,
    sqlite_address,
    sqlite_file,
)
from cardlab_play.offered_games import offered_games
from cardlab_play.options import PlayOptions


@dataclass(frozen=True)
class RecordRow:
    """The games of one player against one agent. `low` and `high` bound a 95 % interval; None below two games."""

    player: str
    game: str
    title: str  # of the game
    agent: str
    search: str | None
    against: str  # display name of the agent
    games: int
    won: int
    tied: int
    lost: int
    win_rate: float  # ties split
    win_rate_low: float
    win_rate_high: float
    points: bool  # whether payoffs are points; else they follow from the wins
    mean: float  # payoff; at Poker Squares minus par
    mean_low: float | None
    mean_high: float | None


@dataclass
class _Results:
    shares: list[float] = field(default_factory=list[float])  # of a win, by game
    scores: list[float] = field(default_factory=list[float])


def record_rows(engine: Engine, agents: AgentCatalog, user_id: int | None = None) -> list[RecordRow]:
    """The record of a user, or of all users, by player, game and number of games. Users of one name are one player."""
    query = (
        select(GameRow.user_id, UserRow.name, GameRow.payoffs, GameRow.score, DealRow)
        .join(DealRow, GameRow.deal_id == DealRow.id)
        .join(UserRow, GameRow.user_id == UserRow.id)
        .where(GameRow.counts, GameRow.status.in_((FINISHED, RESIGNED)), GameRow.score.is_not(None))
    )
    if user_id is not None:
        query = query.where(GameRow.user_id == user_id)
    results: dict[tuple[str, str, AgentChoice], _Results] = defaultdict(_Results)
    with Session(engine) as session:
        for number, name, payoffs, score, deal in session.execute(query):
            assert payoffs is not None
            assert score is not None
            for choice in {AgentChoice(**opponent) for opponent in (deal.opponents or [deal.par])}:
                found = results[name or f"player {number}", deal.game, choice]
                found.shares.append(win_share(payoffs, deal.seat, score))
                found.scores.append(score)
    rows = [_row(*key, found, agents) for key, found in results.items() if key[1] in offered_games()]
    games = list(offered_games())
    return sorted(rows, key=lambda row: (row.player, games.index(row.game), -row.games, row.against))


def win_share(payoffs: Sequence[float], seat: int, score: float) -> float:
    """1 for the only best payoff, 1/k for one of k, 0 for less.

    In one-player games the opponent is par, and `score` is the payoff minus par.
    """
    if len(payoffs) == 1:
        return 0.5 + 0.5 * float(np.sign(score))
    best = max(payoffs)
    return (payoffs[seat] == best) / payoffs.count(best)


def _row(player: str, game: str, choice: AgentChoice, results: _Results, agents: AgentCatalog) -> RecordRow:
    shares, games = results.shares, len(results.shares)
    low, high = share_interval(sum(shares), games)
    mean = estimate(np.array(results.scores, dtype=np.float64))
    return RecordRow(
        player=player,
        game=game,
        title=offered_games()[game].title,
        agent=choice.agent,
        search=choice.search,
        against=agents.title(choice),
        games=games,
        won=shares.count(1.0),
        tied=sum(0 < share < 1 for share in shares),
        lost=shares.count(0.0),
        win_rate=sum(shares) / games,
        win_rate_low=low,
        win_rate_high=high,
        points=not offered_games()[game].prize,
        mean=mean.mean,
        mean_low=mean.low if isfinite(mean.low) else None,
        mean_high=mean.high if isfinite(mean.high) else None,
    )


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
        return []
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
