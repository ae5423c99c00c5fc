"""Leaderboards of games and results of deals.

The leaderboard of a game counts fresh deals only: each is played once, so games are independent samples. Daily and
shared deals have a result list of their own, with the first game of each user.
"""

from collections import defaultdict
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from cardlab.evaluation.intervals import estimate
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.database import FRESH, OPEN, DealRow, GameRow, UserRow
from cardlab_play.offered_games import OFFERED_GAMES

MAX_LEADERBOARD_ROWS = 100
MAX_DEAL_RESULTS = 200


@dataclass
class _Scores:
    """Scores against one agent, or of one user."""

    scores: list[float]
    users: set[int]

    def message(self) -> dict[str, Any]:
        """Number of games, mean and 95 % interval. The bounds are None below two games."""
        result = estimate(np.array(self.scores, dtype=np.float64))
        low, high = (bound if isfinite(bound) else None for bound in (result.low, result.high))
        return {"games": len(self.scores), "mean": result.mean, "low": low, "high": high}


def leaderboard(engine: Engine, agents: AgentCatalog, game: str, user_id: int | None) -> dict[str, Any]:
    """Results at `game` by agent and by user. A game against several agents counts for each of them."""
    with Session(engine) as session:
        query = (
            select(GameRow.user_id, GameRow.score, DealRow.opponents, DealRow.par, UserRow.name)
            .join(DealRow, GameRow.deal_id == DealRow.id)
            .join(UserRow, GameRow.user_id == UserRow.id)
            .where(DealRow.game == game, GameRow.kind == FRESH, GameRow.counts, GameRow.status != OPEN)
        )
        rows = session.execute(query).all()
    by_agent: dict[AgentChoice, _Scores] = defaultdict(lambda: _Scores([], set()))
    by_user: dict[int, _Scores] = defaultdict(lambda: _Scores([], set()))
    names: dict[int, str] = {}
    for row_user, score, opponents, par, name in rows:
        if score is None:
            continue
        for choice in {AgentChoice(**opponent) for opponent in (opponents or [par])}:
            by_agent[choice].scores.append(score)
            by_agent[choice].users.add(row_user)
        by_user[row_user].scores.append(score)
        names[row_user] = name
    return {
        "game": game,
        "unit": OFFERED_GAMES[game].unit,
        "agents": [
            {
                "agent": choice.agent,
                "search": choice.search,
                "title": agents.title(choice),
                "players": len(scores.users),
                **scores.message(),
            }
            for choice, scores in sorted(by_agent.items(), key=lambda item: (-len(item[1].scores), str(item[0])))
        ],
        "players": _user_rows(by_user, names, user_id),
    }


def deal_results_message(engine: Engine, agents: AgentCatalog, deal: DealRow, user_id: int | None) -> dict[str, Any]:
    """Par and results of a deal, for users who have finished it. Before, they would reveal hidden cards."""
    with Session(engine) as session:
        query = (
            select(GameRow.user_id, GameRow.payoffs, GameRow.counts, UserRow.name)
            .join(UserRow, GameRow.user_id == UserRow.id)
            .where(GameRow.deal_id == deal.id, GameRow.status != OPEN)
            .order_by(GameRow.moved)
        )
        rows = session.execute(query).all()
    finished = user_id is not None and any(row_user == user_id for row_user, *_ in rows)
    results = [
        {"name": name, "payoff": payoffs[deal.seat], "you": row_user == user_id}
        for row_user, payoffs, counts, name in rows
        if counts and payoffs is not None
    ]
    results.sort(key=lambda result: -float(result["payoff"]))
    return {
        "finished": finished,
        "par": {"title": agents.title(AgentChoice(**deal.par)), "payoff": deal.par_payoff}
        if finished and deal.par_payoff is not None
        else None,
        "results": results[:MAX_DEAL_RESULTS] if finished else None,
    }


def first_game(engine: Engine, deal_id: str, user_id: int | None) -> GameRow | None:
    """The user's first game with a deal."""
    if user_id is None:
        return None
    with Session(engine) as session:
        query = select(GameRow).where(GameRow.deal_id == deal_id, GameRow.user_id == user_id)
        return session.scalars(query.order_by(GameRow.began)).first()


def _user_rows(by_user: dict[int, _Scores], names: dict[int, str], user_id: int | None) -> list[dict[str, Any]]:
    """Leaderboard rows by user, the best mean first."""
    entries = [
        {"name": names[row_user], "you": row_user == user_id, **scores.message()}
        for row_user, scores in by_user.items()
    ]
    return sorted(entries, key=lambda entry: -float(entry["mean"]))[:MAX_LEADERBOARD_ROWS]
