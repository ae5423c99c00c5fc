"""What outlives the server: people, deals and games, in sqlite or PostgreSQL by SQLAlchemy."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, DateTime, Engine, ForeignKey, Index, LargeBinary, String, create_engine, event
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

OPEN, FINISHED, GIVEN_UP = "open", "finished", "given_up"
FRESH, DAILY = "fresh", "daily"


class DatabaseError(RuntimeError):
    """The database cannot be used; the message is one line that names its key."""


class InvalidDatabase(ValueError):
    """The address is none; the message names the key, not the address, which may hold a password."""


class Row(DeclarativeBase):
    """Base of the tables."""


class Person(Row):
    """A session: who holds its cookie."""

    __tablename__ = "people"
    id: Mapped[int] = mapped_column(primary_key=True)
    token_hash: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    name: Mapped[str] = mapped_column(String(100), default="")
    began: Mapped[datetime] = mapped_column(DateTime(timezone=True))


class DealRow(Row):
    """A deal with all that is played at it, so that another person can play the same."""

    __tablename__ = "deals"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    seed: Mapped[bytes] = mapped_column(LargeBinary(32))
    kind: Mapped[str] = mapped_column(String(8))
    date: Mapped[str | None] = mapped_column(String(10))
    game: Mapped[str] = mapped_column(String(32))
    options: Mapped[dict[str, Any]] = mapped_column(JSON)
    seat: Mapped[int]
    opponents: Mapped[list[dict[str, Any]]] = mapped_column(JSON)  # {agent, search} by seat, without the person's
    par: Mapped[dict[str, Any]] = mapped_column(JSON)  # {agent, search}
    par_payoff: Mapped[float | None]  # known when somebody has finished the deal

    __table_args__ = (Index("deals_of_a_day", "kind", "date", "game"),)


class GameRow(Row):
    """One person's game at a deal: with the deal, its actions are the whole game."""

    __tablename__ = "games"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    deal_id: Mapped[str] = mapped_column(ForeignKey("deals.id"), index=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    kind: Mapped[str] = mapped_column(String(8))  # fresh: dealt for this person; daily; shared: somebody gave its id
    counts: Mapped[bool]
    status: Mapped[str] = mapped_column(String(8), index=True)
    actions: Mapped[list[int]] = mapped_column(JSON)
    payoffs: Mapped[list[float] | None] = mapped_column(JSON)
    score: Mapped[float | None]  # what standings are made of: the person's payoff, where alone less par's
    began: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    moved: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    deal: Mapped[DealRow] = relationship(lazy="joined")
    person: Mapped[Person] = relationship(lazy="select")

    __table_args__ = (Index("games_of_a_person", "person_id", "status"),)


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def default_address(folder: Path) -> str:
    """The sqlite database in `folder`."""
    return f"sqlite:///{folder / 'play.db'}"


def open_database(address: str) -> Engine:
    """The database at `address` with its tables; InvalidDatabase, or DatabaseError when it cannot be used."""
    try:
        engine = create_engine(address, pool_pre_ping=not address.startswith("sqlite"))
        if engine.dialect.name == "sqlite":
            if engine.url.database not in (None, "", ":memory:"):
                Path(str(engine.url.database)).parent.mkdir(parents=True, exist_ok=True)
            event.listen(engine, "connect", _settle_sqlite)
        Row.metadata.create_all(engine)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        reason = _first_line(error)
        raise InvalidDatabase(f"play.database: must be an address such as sqlite:///play.db ({reason})") from error
    except OSError as error:
        raise DatabaseError(f"play.database: cannot be used: {error}") from error
    except SQLAlchemyError as error:
        raise DatabaseError(f"play.database: cannot be used: {_first_line(error)}") from error
    return engine


def _settle_sqlite(connection: Any, _: Any) -> None:
    """Readers beside a writer; a power cut may cost the last moves, the end of the process costs nothing."""
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=10000", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _first_line(error: Exception) -> str:
    original = getattr(error, "orig", None) or error
    return " ".join(str(original).split())[:300]
