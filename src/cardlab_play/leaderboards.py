"""Leaderboards of games, daily deals, and results of deals.

The leaderboard of a game counts fresh deals only: each is played once, so games are independent samples. Daily and
shared deals have a result list of their own, with the first game of each user.
"""

from collections import defaultdict
from dataclasses import asdict

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.database import CLOSED, FINISHED, FRESH, OPEN, RESIGNED, DealRow, GameRow, UserRow
from cardlab_play.deals import find_deal, has_game
from cardlab_play.offered_games import offered_games
from cardlab_play.record import Results, counted_games, rivals
from cardlab_play.serializers import par_message, seats_message
from cardlab_play.table_store import TableStore
from cardlab_play.views.game_view import Json

MAX_LEADERBOARD_ROWS = 100
MAX_DEAL_RESULTS = 200


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
            {
                **asdict(choice),
                "title": agents.title(choice),
                "players": len(results.names),
                **_mean_message(results, share),
            }
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
