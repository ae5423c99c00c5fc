"""The record of a player: results against each agent, with 95 % intervals.

All games that count are in it: fresh deals, and the first game with a daily or shared deal. A game against several
agents counts for each of them.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite

import numpy as np
from scipy.special import betaincinv
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from cardlab.evaluation.intervals import CONFIDENCE, estimate
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.database import FINISHED, RESIGNED, DealRow, GameRow, UserRow
from cardlab_play.offered_games import OFFERED_GAMES


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
    rows = [_row(*key, found, agents) for key, found in results.items() if key[1] in OFFERED_GAMES]
    games = list(OFFERED_GAMES)
    return sorted(rows, key=lambda row: (row.player, games.index(row.game), -row.games, row.against))


def win_share(payoffs: Sequence[float], seat: int, score: float) -> float:
    """1 for the only best payoff, 1/k for one of k, 0 for less.

    In one-player games the opponent is par, and `score` is the payoff minus par.
    """
    if len(payoffs) == 1:
        return 0.5 + 0.5 * float(np.sign(score))
    best = max(payoffs)
    return (payoffs[seat] == best) / payoffs.count(best)


def proportion_interval(wins: float, games: int) -> tuple[float, float]:
    """The exact 95 % interval of a share (Clopper and Pearson 1934). It holds for few games, and if all are won."""
    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(wins, games - wins + 1, tail)) if wins > 0 else 0.0
    high = float(betaincinv(wins + 1, games - wins, 1 - tail)) if wins < games else 1.0
    return low, high


def _row(player: str, game: str, choice: AgentChoice, results: _Results, agents: AgentCatalog) -> RecordRow:
    shares, games = results.shares, len(results.shares)
    low, high = proportion_interval(sum(shares), games)
    mean = estimate(np.array(results.scores, dtype=np.float64))
    return RecordRow(
        player=player,
        game=game,
        title=OFFERED_GAMES[game].title,
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
        points=not OFFERED_GAMES[game].prize,
        mean=mean.mean,
        mean_low=mean.low if isfinite(mean.low) else None,
        mean_high=mean.high if isfinite(mean.high) else None,
    )
