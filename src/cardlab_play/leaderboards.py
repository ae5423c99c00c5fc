"""Results of players: leaderboards of games, daily deals, and the record of a player against each agent.

The leaderboard of a game counts fresh deals only: each is played once, so games are independent samples. Daily and
shared deals have a result list of their own, with the first game of each user. `cardlab play record` prints the record.
"""

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
from sqlalchemy import ColumnElement, Engine, select
from sqlalchemy.orm import Session

from cardlab.evaluation.intervals import estimate, share_interval
from cardlab.experiments.config.build_parts import group
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.database import (
    CLOSED,
    FINISHED,
    FRESH,
    OPEN,
    RESIGNED,
    DealRow,
    GameRow,
    UserRow,
    open_database,
    sqlite_address,
    sqlite_file,
)
from cardlab_play.deals import find_deal, has_game
from cardlab_play.offered_games import offered_games
from cardlab_play.options import PlayOptions
from cardlab_play.serializers import par_message, seats_message
from cardlab_play.table_store import TableStore
from cardlab_play.views.game_view import Json

MAX_LEADERBOARD_ROWS = 100
MAX_DEAL_RESULTS = 200


@dataclass
class Results:
    """Finished games that count, of one player or against one agent."""

    shares: list[float] = field(default_factory=list[float])  # of a win, by game
    scores: list[float] = field(default_factory=list[float])  # payoffs; at Poker Squares minus par
    names: dict[int, str] = field(default_factory=dict[int, str])  # of the players by user id

    def add(self, user_id: int, name: str, payoffs: Sequence[float], score: float, deal: DealRow) -> None:
        """Add a row of `counted_games`."""
        self.shares.append(win_share(payoffs, deal.seat, score))
        self.scores.append(score)
        self.names[user_id] = name

    def win_rate(self) -> tuple[float, float, float]:
        """Win rate with its 95 % interval, ties split."""
        wins, games = sum(self.shares), len(self.shares)
        return wins / games, *share_interval(wins, games)

    def mean_score(self) -> tuple[float, float | None, float | None]:
        """Mean score with its 95 % interval, whose bounds are None below two games."""
        found = estimate(np.array(self.scores, dtype=np.float64))
        return (found.mean, found.low, found.high) if isfinite(found.low) else (found.mean, None, None)


def counted_games(engine: Engine, *conditions: ColumnElement[bool]) -> list[Any]:
    """(user id, name, payoffs, score, deal) of the finished games that count and fulfil the conditions."""
    query = (
        select(GameRow.user_id, UserRow.name, GameRow.payoffs, GameRow.score, DealRow)
        .join(DealRow, GameRow.deal_id == DealRow.id)
        .join(UserRow, GameRow.user_id == UserRow.id)
        .where(GameRow.counts, GameRow.score.is_not(None), *conditions)
    )
    with Session(engine) as session:
        return list(session.execute(query))


def rivals(deal: DealRow) -> set[AgentChoice]:
    """The agents at the other seats; in one-player games the par agent."""
    return {AgentChoice(**agent) for agent in (deal.opponents or [deal.par])}


def win_share(payoffs: Sequence[float], seat: int, score: float) -> float:
    """1 for the only best payoff, 1/k for one of k, 0 for less.

    In one-player games the opponent is par, and `score` is the payoff minus par.
    """
    if len(payoffs) == 1:
        return 0.5 + 0.5 * float(np.sign(score))
    best = max(payoffs)
    return (payoffs[seat] == best) / payoffs.count(best)


def leaderboard_message(engine: Engine, agents: AgentCatalog, game: str, user_id: int | None) -> Json:
    """Results at `game` by agent and by user: points, or shares of games won where there are no points.

    A game against several agents counts for each of them.
    """
    by_agent: dict[AgentChoice, Results] = defaultdict(Results)
    by_user: dict[int, Results] = defaultdict(Results)
    for row in counted_games(engine, DealRow.game == game, GameRow.kind == FRESH):
        for choice in rivals(row[-1]):
            by_agent[choice].add(*row)
        by_user[row[0]].add(*row)
    share = bool(offered_games()[game].prize)
    users = [
        {"name": results.names[row_user], "you": row_user == user_id, **_mean_message(results, share)}
        for row_user, results in by_user.items()
    ]
    return {
        "game": game,
        "unit": offered_games()[game].unit,
        "share": share,
        "agents": [
            {**agents.message(choice), "players": len(results.names), **_mean_message(results, share)}
            for choice, results in sorted(by_agent.items(), key=lambda item: (-len(item[1].scores), str(item[0])))
        ],
        "players": sorted(users, key=lambda user: -float(user["mean"]))[:MAX_LEADERBOARD_ROWS],
    }


def _mean_message(results: Results, share: bool) -> Json:
    """Number of games, mean and 95 % interval, whose bounds are None below two games."""
    games = len(results.scores)
    mean, low, high = results.win_rate() if share else results.mean_score()
    return {"games": games, "mean": mean, "low": low if games > 1 else None, "high": high if games > 1 else None}


def daily_message(store: TableStore, game: str, user_id: int | None) -> Json:
    """Today's deal of `game`, and the user's first game with it."""
    with Session(store.engine, expire_on_commit=False) as session:
        deal = store.deal_factory.today(session, game)
        session.commit()
        own = select(GameRow).where(GameRow.deal_id == deal.id, GameRow.user_id == user_id, GameRow.status != CLOSED)
        first_game = session.scalars(own.order_by(GameRow.began)).first()
    return {
        "game": game,
        "title": offered_games()[game].title,
        "deal": deal.id,
        "seats": seats_message(deal, store.agents),
        "table": None if first_game is None else first_game.id,
        "finished": first_game is not None and first_game.status != OPEN,
    }


def deal_message(store: TableStore, deal_id: str, user_id: int | None) -> Json:
    """A deal, with par and results for users who have finished it. Before, they would reveal hidden cards."""
    query = (
        select(GameRow.user_id, GameRow.payoffs, GameRow.counts, UserRow.name)
        .join(UserRow, GameRow.user_id == UserRow.id)
        .where(GameRow.deal_id == deal_id, GameRow.status.in_((FINISHED, RESIGNED)))
        .order_by(GameRow.moved)
    )
    with Session(store.engine) as session:
        deal = find_deal(session, deal_id, user_id)
        rows = session.execute(query).all()
        finished = any(row_user == user_id for row_user, *_ in rows) and not has_game(
            session, user_id, deal_id, counting=True
        )
    results = [
        {"name": name, "payoff": payoffs[deal.seat], "you": row_user == user_id}
        for row_user, payoffs, counts, name in rows
        if counts and payoffs is not None
    ]
    results.sort(key=lambda result: -float(result["payoff"]))
    return {
        "id": deal.id,
        "kind": deal.kind,
        "game": deal.game,
        "title": offered_games()[deal.game].title,
        "options": deal.options,
        "seat": deal.seat,
        "seats": seats_message(deal, store.agents),
        "date": deal.date,
        "finished": finished,
        "par": par_message(deal, store.agents) if finished and deal.par_payoff is not None else None,
        "results": results[:MAX_DEAL_RESULTS] if finished else None,
    }


def record_message(engine: Engine, agents: AgentCatalog, *conditions: ColumnElement[bool]) -> list[Json]:
    """The record of all users, or of those of the conditions, by player, game and number of games.

    Users of one name are one player.
    """
    results: dict[tuple[str, str, AgentChoice], Results] = defaultdict(Results)
    for row in counted_games(engine, *conditions):
        user_id, name, _, _, deal = row
        for choice in rivals(deal) if deal.game in offered_games() else ():
            results[name or f"player {user_id}", deal.game, choice].add(*row)
    rows = [_row(*key, found, agents) for key, found in results.items()]
    games = list(offered_games())
    return sorted(rows, key=lambda row: (row["player"], games.index(row["game"]), -row["games"], row["against"]))


def _row(player: str, game: str, choice: AgentChoice, results: Results, agents: AgentCatalog) -> Json:
    shares, offered = results.shares, offered_games()[game]
    win_rate, mean = results.win_rate(), results.mean_score()
    return {
        "player": player,
        "game": game,
        "title": offered.title,
        **asdict(choice),
        "against": agents.title(choice),
        "games": len(shares),
        "won": shares.count(1.0),
        "tied": sum(0 < share < 1 for share in shares),
        "lost": shares.count(0.0),
        **dict(zip(("win_rate", "win_rate_low", "win_rate_high"), win_rate, strict=True)),
        "points": not offered.prize,
        **dict(zip(("mean", "mean_low", "mean_high"), mean, strict=True)),
    }


def print_record(config: Mapping[str, Any], *, as_json: bool) -> int:
    """Print one row for each player, game and agent. Raises InvalidOption or DatabaseError."""
    player, game = config["player"], config.get("game")
    rows = [
        row
        for row in _all_rows(PlayOptions(**group("play", config["play"])))
        if (player is None or str(player).casefold() in row["player"].casefold())
        and (not game or row["game"] == game["name"])
    ]
    if as_json:
        print(json.dumps(rows, indent=1))
    elif rows:
        _print_table(rows)
    if not rows:
        print("no finished games that count; `cardlab play` serves the table", file=sys.stderr)
    return 0


def _all_rows(options: PlayOptions) -> list[Json]:
    """The rows of all players. A missing file of sqlite is not created. Raises InvalidOption or DatabaseError."""
    address = options.database or sqlite_address(options.folder)
    file = sqlite_file(address)
    if file is not None and not file.exists():
        return []
    engine = open_database(address)
    try:
        return record_message(engine, AgentCatalog(options))
    finally:
        engine.dispose()


_WIDTH = 200  # of a table that is no terminal's


def _print_table(rows: Sequence[Json]) -> None:
    terminal = Console(highlight=False)
    console = terminal if terminal.is_terminal else Console(highlight=False, width=_WIDTH)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("player", "game", "against"):
        table.add_column(heading)
    for heading in ("games", "won", "tied", "lost", "win rate", "95 %", "points", "95 %"):
        table.add_column(heading, justify="right")
    for row in rows:
        texts = [str(row[key]) for key in ("player", "game", "against", "games", "won", "tied", "lost")]
        texts += [f"{row['win_rate']:.0%}", f"{row['win_rate_low']:.0%} to {row['win_rate_high']:.0%}"]
        texts.append(f"{row['mean']:+.2f}" if row["points"] else "")
        known = row["points"] and row["mean_low"] is not None
        texts.append(f"{row['mean_low']:+.2f} to {row['mean_high']:+.2f}" if known else "")
        table.add_row(*map(Plain, texts))
    console.print(table)
