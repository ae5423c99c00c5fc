"""What the routes share: sessions (cookies and names of users), the table store, locks, threads and background work."""

import asyncio
import hashlib
import logging
import secrets
import time
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import anyio
from anyio import sleep, to_thread
from limits import RateLimitItemPerHour
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from sqlalchemy import URL, ColumnElement, Engine, select, update
from sqlalchemy.orm import Session, aliased

from cardlab.core.files import check_folder
from cardlab_play.agent_catalog import AgentCatalog
from cardlab_play.database import CLOSED, OPEN, GameRow, UserRow, now, open_database, sqlite_address
from cardlab_play.deals import load_secret
from cardlab_play.errors import RequestError, one_line
from cardlab_play.options import Limits, PlayOptions
from cardlab_play.table_store import TableStore

COOKIE = "cardlab_session"
_TOKEN_BYTES = 32
_MAX_CACHED = 10_000
_MAX_NAME = 24  # characters


@dataclass
class SessionStore:
    """Users by their session tokens. The database stores token hashes only."""

    engine: Engine
    limits: Limits

    def __post_init__(self) -> None:
        self._limiter = FixedWindowRateLimiter(MemoryStorage())
        self._user_id = lru_cache(_MAX_CACHED)(self._query_user_id)

    def find(self, token: str | None) -> int | None:
        """The user id of `token`, None for an unknown token."""
        return None if token is None else self._user_id(_digest(token))

    def _query_user_id(self, digest: bytes) -> int | None:
        with Session(self.engine) as session:
            return session.scalar(select(UserRow.id).where(UserRow.token_hash == digest))

    def create(self, address: str) -> tuple[int, str]:
        """A new user: the id and the token for the cookie. Raises a 429 beyond the sessions of an hour."""
        if not self._limiter.hit(RateLimitItemPerHour(self.limits.sessions_per_address), "address", address):
            raise RequestError(429, "too many new sessions from your address in this hour; try again later")
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        with Session(self.engine) as session:
            user = UserRow(token_hash=_digest(token), name="", began=now())
            session.add(user)
            session.commit()
            return user.id, token

    def name(self, user_id: int | None) -> str:
        """The user's name, empty if none is set."""
        if user_id is None:
            return ""
        with Session(self.engine) as session:
            return session.scalar(select(UserRow.name).where(UserRow.id == user_id)) or ""

    def rename(self, user_id: int, name: str) -> str:
        """Set the cleaned name and return it. Raises a 422 if it is empty or too long."""
        clean = clean_name(name)
        if not 1 <= len(clean) <= _MAX_NAME:
            raise RequestError(422, f"name: must have 1 to {_MAX_NAME} printable characters", "name")
        with Session(self.engine) as session, session.begin():
            session.execute(update(UserRow).where(UserRow.id == user_id).values(name=clean))
        return clean


def clean_name(name: str) -> str:
    """`name` in NFKC form, without control, format and unassigned characters, words separated by single spaces.

    A letter keeps at most two combining marks: more would overlap the neighbouring lines.
    """
    kept: list[str] = []
    marks = 0
    for character in unicodedata.normalize("NFKC", name):
        category = unicodedata.category(character)
        marks = marks + 1 if category.startswith("M") else 0
        if category.startswith("Z"):
            kept.append(" ")
        elif not category.startswith("C") and marks <= 2:
            kept.append(character)
    return " ".join("".join(kept).split())


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


_log = logging.getLogger(__name__)


@dataclass
class Dispatcher:
    """The table store and the sessions, and the pool that runs requests in parallel."""

    store: TableStore
    sessions: SessionStore
    options: PlayOptions

    def __post_init__(self) -> None:
        self.slow_threads = anyio.CapacityLimiter(max(1, self.options.threads // 2))
        self.last_request = -float("inf")  # time.monotonic()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.background = ThreadPoolExecutor(1, thread_name_prefix="background")

    def idle_seconds(self) -> float:
        """Time since the last request."""
        return time.monotonic() - self.last_request

    def lock(self, table_id: str) -> asyncio.Lock:
        """The lock of a table. Waiting requests hold no thread."""
        return self._locks.setdefault(table_id, asyncio.Lock())

    def run_in_background(self, name: str, work: Callable[[], None]) -> None:
        """Run `work` after the reply, one job at a time. A failure logs one line: no caller waits for the result."""

        def job() -> None:
            try:
                work()
            except Exception as error:
                _log.warning("%s: %s", name, one_line(error))

        self.background.submit(job)


def make_dispatcher(options: PlayOptions, **store_fields: Any) -> Dispatcher:
    """The dispatcher for `options`. Tests override fields of the table store."""
    agents = AgentCatalog(options)  # validates options: comes before anything is written
    engine = open_database(options.database or _sqlite_file(options.folder))
    secret = load_secret(Path(options.folder, "secret"), options.secret)
    store = TableStore(options, engine, secret, agents, **store_fields)
    return Dispatcher(store, SessionStore(engine, options.limits), options)


def _sqlite_file(folder: str) -> URL:
    """The database in `folder`, which is created for the owner only."""
    with suppress(OSError, ValueError):  # check_folder reports them
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    return sqlite_address(str(check_folder("play.folder", folder)))


CHECK_SECONDS = 300.0
UNPLAYED_MINUTES = 60.0
"""After them a table is closed if its session has never made a move."""
_BATCH_SIZE = 50  # tables per query


async def close_idle_tables_forever(dispatcher: Dispatcher) -> None:
    """Look for idle tables every CHECK_SECONDS. An error logs one line."""
    while True:
        try:
            await close_idle_tables(dispatcher)
        except Exception as error:
            _log.warning("closing idle tables failed: %s", one_line(error))
        await sleep(CHECK_SECONDS)


async def close_idle_tables(dispatcher: Dispatcher) -> int:
    """Close unplayed tables and resign idle ones, each under its lock. Returns the number of the latter."""
    store = dispatcher.store
    await to_thread.run_sync(close_unplayed_tables, store)
    idle = await to_thread.run_sync(find_idle_tables, store)
    for user_id, table_id in idle:
        async with dispatcher.lock(table_id):
            await to_thread.run_sync(close_idle_table, store, user_id, table_id, limiter=dispatcher.slow_threads)
    return len(idle)


def close_unplayed_tables(store: TableStore) -> None:
    """Close tables of sessions that have never moved. A session that has moved cannot drop deals that it dislikes."""
    other = aliased(GameRow)
    has_moved = select(other.id).where(other.user_id == GameRow.user_id, other.moved > other.began).exists()
    _close(store, GameRow.began < now() - timedelta(minutes=UNPLAYED_MINUTES), ~has_moved)


def _close(store: TableStore, *conditions: ColumnElement[bool]) -> None:
    """Close the open tables that fulfil the conditions, without a result."""
    closed = update(GameRow).where(GameRow.status == OPEN, *conditions).values(status=CLOSED, counts=False)
    with Session(store.engine) as session, session.begin():
        session.execute(closed, execution_options={"synchronize_session": False})


def find_idle_tables(store: TableStore, *conditions: ColumnElement[bool]) -> list[tuple[int, str]]:
    """(user id, table id) of up to _BATCH_SIZE idle tables that fulfil the conditions."""
    limit = now() - timedelta(hours=store.options.limits.idle_hours)
    query = select(GameRow.user_id, GameRow.id).where(GameRow.status == OPEN, GameRow.moved < limit, *conditions)
    with Session(store.engine) as session:
        return [(user_id, table_id) for user_id, table_id in session.execute(query.limit(_BATCH_SIZE))]


def close_idle_table(store: TableStore, user_id: int, table_id: str) -> None:
    """Resign the table unless it has moved meanwhile. A table that fails to load is closed without a result."""
    if not find_idle_tables(store, GameRow.id == table_id):
        return
    try:
        live = store.find(user_id, table_id, to_resign=True)
    except Exception as error:  # its game or options no longer exist
        _log.warning("table %s is closed without a result: %s", table_id, one_line(error))
        _close(store, GameRow.id == table_id)
        return
    if not live.table.is_over:
        store.resign(live, len(live.table.actions))
