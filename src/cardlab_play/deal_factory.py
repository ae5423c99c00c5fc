"""Validates requests for tables and makes the database rows of deals."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cardlab.core.options import InvalidOption
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.database import DAILY, FRESH, SHARED, DealRow, now
from cardlab_play.deals import Deal, Secret, new_seed
from cardlab_play.errors import RequestError
from cardlab_play.offered_games import make_offered_game
from cardlab_play.opening_rules import find_deal
from cardlab_play.request_models import TableRequest


@dataclass(frozen=True)
class DealFactory:
    """Makes deals. Raises InvalidOption, with the key, for an invalid request."""

    secret: Secret
    agents: AgentCatalog
    make_seed: Callable[[], bytes] = new_seed

    def find_or_make(self, session: Session, request: TableRequest, user_id: int) -> tuple[DealRow, str]:
        """The deal of a request and its kind for the user's game: fresh, daily or shared."""
        if request.deal is None:
            return self._row(self.make_seed(), FRESH, None, request), FRESH
        for key in ("options", "seat", "opponents", "par"):
            if getattr(request, key) is not None:
                raise InvalidOption(key, getattr(request, key), "left out with a deal: the deal sets it")
        if request.practice:
            raise InvalidOption("practice", True, "false with a deal: practice games have fresh deals")
        if request.deal == DAILY:
            return self.today(session, request.game), DAILY
        row = find_deal(session, request.deal, user_id)
        if row.game != request.game:
            raise RequestError(404, f"there is no deal of {request.game} with this id", "deal")
        return row, DAILY if row.kind == DAILY else SHARED

    def today(self, session: Session, game: str) -> DealRow:
        """Today's deal of `game`. The first call of a day makes it."""
        make_offered_game(game, {})
        date = now().date().isoformat()
        query = select(DealRow).where(DealRow.kind == DAILY, DealRow.date == date, DealRow.game == game)
        found = session.scalars(query).first()
        if found is not None:
            return found
        row = self._row(self.secret.daily(game, date).seed, DAILY, date, TableRequest(game=game))
        try:
            with session.begin_nested():
                session.add(row)
        except IntegrityError:  # another request made it first
            return session.scalars(query).one()
        return row

    def _row(self, seed: bytes, kind: str, date: str | None, request: TableRequest) -> DealRow:
        """The row of a deal with all defaults filled in."""
        game, options = make_offered_game(request.game, request.options or {})
        num_players, seat = game.spec.num_players, request.seat or 0
        if seat >= num_players:
            raise InvalidOption("seat", seat, f"a seat from 0 to {num_players - 1}")
        advisor = self.agents.advisor(game)
        par = request.par or advisor
        self.agents.load_offered(game, par, "par")
        opponents = _opponents(request.opponents or [advisor], num_players)
        for index, choice in enumerate(opponents):
            self.agents.load_offered(game, choice, f"opponents[{index}]")
        seats = [asdict(choice) for choice in opponents]
        setting = json.dumps([request.game, options, seat, seats, asdict(par)], sort_keys=True)
        return DealRow(
            id=self.secret.deal_id(Deal(seed), setting),
            seed=seed,
            kind=kind,
            date=date,
            game=request.game,
            options=options,
            seat=seat,
            opponents=seats,
            par=asdict(par),
            par_payoff=None,
        )


def _opponents(requested: list[AgentChoice], num_players: int) -> list[AgentChoice]:
    """One agent for each other seat. A single requested agent takes all of them."""
    if num_players == 1:
        return []
    opponents = requested * (num_players - 1) if len(requested) == 1 else requested
    if len(opponents) != num_players - 1:
        raise InvalidOption("opponents", len(requested), f"one agent, or one for each of {num_players - 1} seats")
    return opponents
