"""Deals: all random numbers of a game from one secret seed, who may see a deal, and the database rows of new ones."""

import hashlib
import hmac
import json
import os
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from sqlalchemy import func, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from cardlab.core.messages import InvalidOption
from cardlab.core.options import check_whole
from cardlab.games.protocol import Game, States
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.database import DAILY, FINISHED, FRESH, OPEN, RESIGNED, SHARED, DealRow, GameRow, UserRow, now
from cardlab_play.errors import RequestError
from cardlab_play.offered_games import make_offered_game
from cardlab_play.options import Limits, invalid_play
from cardlab_play.request_guards import TableRequest

SEED_BYTES = 48
KEY_BYTES = 32
ID_BYTES = 16


@dataclass(frozen=True)
class Deal:
    """One deal: `seed` determines the cards and the random numbers of the agents."""

    seed: bytes

    def states(self, game: Game) -> States:
        """[1] the dealt game. SHAKE-256 makes the deck: known cards do not help to compute the others."""
        words = np.frombuffer(hashlib.shake_256(b"deck" + self.seed).digest(8 * game.spec.num_cards), dtype="<u8")
        decks = words.argsort(kind="stable").astype(np.int8)[None] if len(words) else None
        return game.deal(1, self._rng(b"cards"), decks)

    def rng(self, number: int, player: int) -> np.random.Generator:
        """The random generator of `player` for the decision after `number` actions."""
        return self._rng(f"{player} {number}".encode())

    def _rng(self, purpose: bytes) -> np.random.Generator:
        return np.random.default_rng(int.from_bytes(hmac.digest(self.seed, purpose, "sha256")))


@dataclass(frozen=True)
class Secret:
    """The server's key. Daily deals and deal ids cannot be predicted without it."""

    key: bytes

    def daily(self, game: str, date: str) -> Deal:
        """The deal of `game` on a date such as 2026-11-21."""
        return Deal(hmac.digest(self.key, f"daily {game} {date}".encode(), "sha384"))

    def deal_id(self, deal: Deal, setting: str) -> str:
        """The public id of `deal` with a `setting` (game, options, seats): a keyed hash of 128 bits."""
        return self._id(b"deal " + deal.seed + setting.encode())

    def address_id(self, address: str) -> str:
        """A keyed hash of a client's address, for the database."""
        return self._id(f"address {address}".encode())

    def _id(self, message: bytes) -> str:
        digest = hmac.digest(self.key, message, "sha256")[:ID_BYTES]
        return urlsafe_b64encode(digest).rstrip(b"=").decode()


def new_seed() -> bytes:
    """The seed of a new random deal."""
    return secrets.token_bytes(SEED_BYTES)


def new_id() -> str:
    """A random id of 128 bits."""
    return secrets.token_urlsafe(ID_BYTES)


def load_secret(path: Path, given: str | None = None) -> Secret:
    """The secret from the text `given`, else from the file `path`. A missing file is created.

    Raises InvalidOption for a file of another length.
    """
    if given:
        return Secret(hashlib.sha256(given.encode()).digest())
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise invalid_play("secret", path, f"a file of {KEY_BYTES} bytes; remove it to create a new secret")
    return Secret(key)


def lock_user(session: Session, user_id: int) -> None:
    """Let other transactions of this user wait until this one ends, also those of other servers."""
    session.execute(update(UserRow).where(UserRow.id == user_id).values(name=UserRow.name))


def check_capacity(session: Session, limits: Limits, user_id: int, address: str) -> None:
    """Raise a 429 or 503 where the session, its address or all together have enough open tables."""
    count = select(func.count()).select_from(GameRow).where(GameRow.status == OPEN)
    if (session.scalar(count.where(GameRow.user_id == user_id)) or 0) >= limits.tables_per_session:
        message = f"finish or resign a game first: the limit is {limits.tables_per_session} open tables"
        raise RequestError(429, message)
    if (session.scalar(count.where(GameRow.address == address)) or 0) >= limits.tables_per_address:
        message = f"your address has reached its limit of {limits.tables_per_address} open tables; try again later"
        raise RequestError(429, message)
    if (session.scalar(count) or 0) >= limits.tables:
        raise RequestError(503, "the server has reached its limit of open tables; try again later")


def check_no_counting_game(session: Session, user_id: int | None, deal_id: str) -> None:
    """Raise a 409 while a game of the user with the deal counts and is not over."""
    if has_game(session, user_id, deal_id, counting=True):
        raise RequestError(409, "your game with this deal that counts is not over: finish or resign it first", "deal")


def has_game(session: Session, user_id: int | None, deal_id: str, *, counting: bool = False) -> bool:
    """Whether the user has ever had a table with the deal; `counting`: one that counts and is not over."""
    own = select(GameRow.id).where(GameRow.user_id == user_id, GameRow.deal_id == deal_id)
    if counting:
        own = own.where(GameRow.counts, GameRow.status == OPEN)
    return session.scalar(own.limit(1)) is not None


def find_deal(session: Session, deal_id: str, user_id: int | None) -> DealRow:
    """The deal with this id. Raises a 404, also for the fresh deal of another user whose game is not over."""
    deal = session.get(DealRow, deal_id)
    if deal is not None and deal.kind == FRESH:
        allowed = or_(GameRow.user_id == user_id, GameRow.status.in_((FINISHED, RESIGNED)))
        if session.scalar(select(GameRow.id).where(GameRow.deal_id == deal_id, allowed).limit(1)) is None:
            deal = None
    if deal is None:
        raise RequestError(404, "there is no deal with this id", "deal")
    return deal


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
        for key in ("options", "seat", "opponents", "par", "practice"):
            if getattr(request, key) not in (None, False):
                raise InvalidOption(key, getattr(request, key), "left out with a deal: the deal sets it")
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
        num_players = game.spec.num_players
        seat = check_whole("seat", request.seat or 0, 0, num_players - 1)
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
