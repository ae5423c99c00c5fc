"""Which tables a player may open, and which deals a player may see.

A player is the holder of a session cookie. A deal counts once for each player. Its cards stay hidden while it counts.
"""

from sqlalchemy import func, or_, select, update
from sqlalchemy.orm import Session

from cardlab_play.database import FINISHED, FRESH, OPEN, RESIGNED, DealRow, GameRow, UserRow
from cardlab_play.errors import RequestError
from cardlab_play.options import Limits


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
