"""Database tables of users, deals and games: sqlite or PostgreSQL through SQLAlchemy."""

import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    URL,
    DateTime,
    Engine,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from cardlab_play.errors import one_line
from cardlab_play.options import invalid_play

OPEN, FINISHED, RESIGNED, CLOSED = "open", "finished", "given_up", "closed"  # closed: without a result
FRESH, DAILY, SHARED = "fresh", "daily", "shared"


class DatabaseError(RuntimeError):
    """The database does not work. The message is one line with the configuration key."""


class DatabaseBase(DeclarativeBase):
    """Base class of the rows."""


class UserRow(DatabaseBase):
    """A user: the holder of a session cookie."""

    __tablename__ = "people"
    id: Mapped[int] = mapped_column(primary_key=True)
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    name: Mapped[str] = mapped_column(String(100), default="")
    began: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class DealRow(DatabaseBase):
    """A deal with its game, options, seat and agents, so that other users can play it."""

    __tablename__ = "deals"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    seed: Mapped[bytes] = mapped_column(LargeBinary)
    kind: Mapped[str] = mapped_column(String(8))
    date: Mapped[str | None] = mapped_column(String(10))
    game: Mapped[str] = mapped_column(String(32))
    options: Mapped[dict[str, Any]] = mapped_column(JSON)
    seat: Mapped[int]
    opponents: Mapped[list[dict[str, Any]]] = mapped_column(JSON)  # {agent, search} by seat, without the player's
    par: Mapped[dict[str, Any]] = mapped_column(JSON)  # {agent, search}
    par_payoff: Mapped[float | None]  # known after the first finished game

    __table_args__ = (Index("deals_of_a_day", "kind", "date", "game"),)


class GameRow(DatabaseBase):
    """A user's game with a deal. Deal and actions determine the whole game."""

    __tablename__ = "games"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    deal_id: Mapped[str] = mapped_column(ForeignKey("deals.id"), index=True)
    user_id: Mapped[int] = mapped_column("person_id", ForeignKey("people.id"))
    kind: Mapped[str] = mapped_column(String(8))  # fresh, daily, or shared: opened by the id of a deal
    counts: Mapped[bool]
    status: Mapped[str] = mapped_column(String(8), index=True)
    actions: Mapped[list[int]] = mapped_column(JSON)
    payoffs: Mapped[list[float] | None] = mapped_column(JSON)
    score: Mapped[float | None]  # the player's payoff, in one-player games minus par
    began: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    moved: Mapped[datetime] = mapped_column(DateTime(timezone=True))  # equal to `began` before the first move
    address: Mapped[str | None] = mapped_column(String(32))  # keyed hash of the address that opened the table
    deal: Mapped[DealRow] = relationship(lazy="joined")

    __table_args__ = (Index("games_of_a_person", "person_id", "status"),)


def now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


def sqlite_address(folder: str) -> URL:
    """The address of the database in `folder`."""
    return URL.create("sqlite", database=str(Path(folder, "play.db")))


def sqlite_file(address: str | URL) -> Path | None:
    """The file of a database of sqlite; None for another address, valid or not."""
    try:
        url = make_url(address)
    except ArgumentError:
        return None
    in_file = url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:")
    return Path(str(url.database)) if in_file else None


def open_database(address: str | URL) -> Engine:
    """Connect to `address` and create missing tables. Raises InvalidOption or DatabaseError.

    Only the owner can read a file of sqlite. Messages omit the address, which may contain a password.
    """
    try:
        engine = create_engine(address, pool_pre_ping=not str(address).startswith("sqlite"))
        if engine.dialect.name == "sqlite":
            if (file := sqlite_file(engine.url)) is not None:
                _make_private(file)
            event.listen(engine, "connect", _configure_sqlite)
        DatabaseBase.metadata.create_all(engine)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        allowed = f"an address such as sqlite:///play.db ({one_line(error)})"
        raise invalid_play("database", "…", allowed) from error
    except (OSError, SQLAlchemyError) as error:
        reason = one_line(getattr(error, "orig", None) or error)
        raise DatabaseError(f"play.database: does not work: {reason}") from error
    return engine


def _make_private(path: Path) -> None:
    """Create the file and its folder for the owner only. sqlite gives its other files the mode of this one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):  # an open file must not be opened again: closing it would drop sqlite's locks
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    for name in (path, f"{path}-wal", f"{path}-shm"):  # also those that existed
        with suppress(FileNotFoundError):
            os.chmod(name, 0o600)


def _configure_sqlite(connection: Any, _: Any) -> None:
    """Allow reads during writes. A power failure may lose the last moves, a killed process loses nothing."""
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=10000", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
