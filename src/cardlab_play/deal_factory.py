"""Validates game requests and makes the database rows of deals."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.database import DAILY, FRESH, DealRow, now
from cardlab_play.deals import Deal, Secret
from cardlab_play.errors import InvalidValue
from cardlab_play.offered_games import make_offered_game


@dataclass(frozen=True)
class GameRequest:
    """A game to play. The server chooses what is None."""

    game: str
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    seat: int = 0
    opponents: tuple[AgentChoice, ...] | None = None
    par: AgentChoice | None = None


@dataclass(frozen=True)
class DealFactory:
    """Makes deals. Raises InvalidValue or InvalidOption, with the key, for an invalid request."""

    secret: Secret
    agents: AgentCatalog

    def fresh(self, session: Session, seed: bytes, game_request: GameRequest) -> DealRow:
        """The requested deal with the secret `seed`."""
        row = self._row(seed, FRESH, None, game_request)
        session.add(row)
        session.flush()
        return row

    def today(self, session: Session, game: str) -> DealRow:
        """Today's deal of `game`. The first call of a day makes it."""
        make_offered_game(game, {})
        date = now().date().isoformat()
        query = select(DealRow).where(DealRow.kind == DAILY, DealRow.date == date, DealRow.game == game)
        found = session.scalars(query).first()
        if found is not None:
            return found
        row = self._row(self.secret.daily(game, date).seed, DAILY, date, GameRequest(game))
        try:
            with session.begin_nested():
                session.add(row)
        except IntegrityError:  # another request made it first
            return session.scalars(query).one()
        return row

    def _row(self, seed: bytes, kind: str, date: str | None, game_request: GameRequest) -> DealRow:
        """The row of a deal with all defaults filled in."""
        game, options = make_offered_game(game_request.game, game_request.options)
        num_players = game.spec.num_players
        if not 0 <= game_request.seat < num_players:
            raise InvalidValue.of("seat", game_request.seat, f"a seat from 0 to {num_players - 1}")
        advisor = self.agents.advisor(game)
        par = game_request.par or advisor
        self.agents.check(game, par, "par")
        opponents = self._check_opponents(game_request.opponents or (advisor,), num_players)
        for index, choice in enumerate(opponents):
            self.agents.check(game, choice, f"opponents[{index}]")
        seats = [asdict(choice) for choice in opponents]
        setting = json.dumps([game_request.game, options, game_request.seat, seats, asdict(par)], sort_keys=True)
        return DealRow(
            id=self.secret.deal_id(Deal(seed), setting),
            seed=seed,
            kind=kind,
            date=date,
            game=game_request.game,
            options=options,
            seat=game_request.seat,
            opponents=seats,
            par=asdict(par),
            par_payoff=None,
        )

    def _check_opponents(self, requested: tuple[AgentChoice, ...], num_players: int) -> tuple[AgentChoice, ...]:
        """One agent for each other seat. A single requested agent takes all of them."""
        if num_players == 1:
            return ()
        opponents = requested * (num_players - 1) if len(requested) == 1 else requested
        if len(opponents) != num_players - 1:
            raise InvalidValue.of("opponents", len(requested), f"one agent, or one for each of {num_players - 1} seats")
        return opponents
