"""Which deal is played, by whom: orders checked, and rows of deals made."""

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cardlab_play.database import DAILY, FRESH, DealRow, now
from cardlab_play.deals import Deal, Secret
from cardlab_play.errors import WrongValue
from cardlab_play.players import Player, Players
from cardlab_play.settings import game_of


@dataclass(frozen=True)
class Order:
    """What a person wants to play; None for what the server chooses."""

    game: str
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    seat: int = 0
    opponents: tuple[Player, ...] | None = None
    par: Player | None = None


@dataclass(frozen=True)
class Dealer:
    """Makes deals; WrongValue or InvalidOption, by its key, for an order that cannot be played."""

    secret: Secret
    players: Players

    def fresh(self, session: Session, seed: bytes, order: Order) -> DealRow:
        """The deal of `seed`, as it is ordered."""
        row = self._row(seed, FRESH, None, order)
        session.add(row)
        session.flush()
        return row

    def today(self, session: Session, game: str) -> DealRow:
        """Today's deal of `game`, the same for everybody from the first look at it on."""
        game_of(game, {})
        date = now().date().isoformat()
        query = select(DealRow).where(DealRow.kind == DAILY, DealRow.date == date, DealRow.game == game)
        found = session.scalars(query).first()
        if found is not None:
            return found
        row = self._row(self.secret.daily(game, date).seed, DAILY, date, Order(game))
        try:
            with session.begin_nested():
                session.add(row)
        except IntegrityError:  # somebody else looked at the same moment
            return session.scalars(query).one()
        return row

    def _row(self, seed: bytes, kind: str, date: str | None, order: Order) -> DealRow:
        """A deal with everything about it decided."""
        game, options = game_of(order.game, order.options)
        num_players = game.spec.num_players
        if not 0 <= order.seat < num_players:
            raise WrongValue.of("seat", order.seat, f"a seat from 0 to {num_players - 1}")
        advisor = self.players.advisor(game)
        par = order.par or advisor
        self.players.check(game, par, "par")
        opponents = self._opponents(order.opponents or (advisor,), num_players)
        for index, player in enumerate(opponents):
            self.players.check(game, player, f"opponents[{index}]")
        seats = [asdict(player) for player in opponents]
        setting = json.dumps([order.game, options, order.seat, seats, asdict(par)], sort_keys=True)
        return DealRow(
            id=self.secret.deal_id(Deal(seed), setting),
            seed=seed,
            kind=kind,
            date=date,
            game=order.game,
            options=options,
            seat=order.seat,
            opponents=seats,
            par=asdict(par),
            par_payoff=None,
        )

    def _opponents(self, ordered: tuple[Player, ...], num_players: int) -> tuple[Player, ...]:
        """One for each seat but the person's; a single one sits everywhere."""
        if num_players == 1:
            return ()
        opponents = ordered * (num_players - 1) if len(ordered) == 1 else ordered
        if len(opponents) != num_players - 1:
            raise WrongValue.of("opponents", len(ordered), f"one, or one for each of {num_players - 1} seats")
        return opponents
