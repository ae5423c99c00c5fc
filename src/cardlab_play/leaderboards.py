"""People against agents: leaderboards of games, and standings of deals.

The leaderboard takes only fresh deals, which nobody can have seen before; each is one game, so that the game is the
unit of sampling. A day's deal and one that was shared have standings of their own, of everybody's first try.
"""

from collections import defaultdict
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from cardlab.evaluation.intervals import estimate
from cardlab_play.database import FRESH, OPEN, DealRow, GameRow, Person
from cardlab_play.players import Player, Players
from cardlab_play.settings import SETTINGS

MOST_PEOPLE = 100
MOST_STANDINGS = 200


@dataclass
class _Scores:
    """Scores of one agent, or of one person."""

    scores: list[float]
    people: set[int]

    def message(self) -> dict[str, Any]:
        """Mean and 95 % interval, which two games at least are needed for."""
        found = estimate(np.array(self.scores, dtype=np.float64))
        low, high = (bound if isfinite(bound) else None for bound in (found.low, found.high))
        return {"games": len(self.scores), "mean": found.mean, "low": low, "high": high}


def leaderboard(engine: Engine, players: Players, game: str, person: int | None) -> dict[str, Any]:
    """Results of people at `game` by agent and by person; a table of several agents counts for each of them."""
    with Session(engine) as session:
        query = (
            select(GameRow.person_id, GameRow.score, DealRow.opponents, DealRow.par, Person.name)
            .join(DealRow, GameRow.deal_id == DealRow.id)
            .join(Person, GameRow.person_id == Person.id)
            .where(DealRow.game == game, GameRow.kind == FRESH, GameRow.counts, GameRow.status != OPEN)
        )
        rows = session.execute(query).all()
    by_agent: dict[Player, _Scores] = defaultdict(lambda: _Scores([], set()))
    by_person: dict[int, _Scores] = defaultdict(lambda: _Scores([], set()))
    names: dict[int, str] = {}
    for number, score, opponents, par, name in rows:
        if score is None:
            continue
        for player in {Player(**opponent) for opponent in (opponents or [par])}:
            by_agent[player].scores.append(score)
            by_agent[player].people.add(number)
        by_person[number].scores.append(score)
        names[number] = name
    return {
        "game": game,
        "unit": SETTINGS[game].unit,
        "agents": [
            {
                "agent": player.agent,
                "search": player.search,
                "title": players.title(player),
                "people": len(scores.people),
                **scores.message(),
            }
            for player, scores in sorted(by_agent.items(), key=lambda item: (-len(item[1].scores), str(item[0])))
        ],
        "people": _people(by_person, names, person),
    }


def deal_message(engine: Engine, players: Players, deal: DealRow, person: int | None) -> dict[str, Any]:
    """A deal; par and standings only for who has finished it, since they say something about the hidden cards."""
    with Session(engine) as session:
        query = (
            select(GameRow.person_id, GameRow.payoffs, GameRow.counts, Person.name)
            .join(Person, GameRow.person_id == Person.id)
            .where(GameRow.deal_id == deal.id, GameRow.status != OPEN)
            .order_by(GameRow.moved)
        )
        rows = session.execute(query).all()
    finished = person is not None and any(number == person for number, *_ in rows)
    standings = [
        {"name": name, "payoff": payoffs[deal.seat], "you": number == person}
        for number, payoffs, counts, name in rows
        if counts and payoffs is not None
    ]
    standings.sort(key=lambda standing: -float(standing["payoff"]))
    return {
        "finished": finished,
        "par": {"title": players.title(Player(**deal.par)), "payoff": deal.par_payoff}
        if finished and deal.par_payoff is not None
        else None,
        "standings": standings[:MOST_STANDINGS] if finished else None,
    }


def own_game(engine: Engine, deal_id: str, person: int | None) -> GameRow | None:
    """The first game of `person` at a deal."""
    if person is None:
        return None
    with Session(engine) as session:
        query = select(GameRow).where(GameRow.deal_id == deal_id, GameRow.person_id == person)
        return session.scalars(query.order_by(GameRow.began)).first()


def _people(by_person: dict[int, _Scores], names: dict[int, str], person: int | None) -> list[dict[str, Any]]:
    """The best means first; who has no name stands as nobody's."""
    entries = [
        {"name": names[number], "you": number == person, **scores.message()} for number, scores in by_person.items()
    ]
    return sorted(entries, key=lambda entry: -float(entry["mean"]))[:MOST_PEOPLE]
