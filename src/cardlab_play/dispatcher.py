"""Runs request work in threads, one request at a time for each table, and resolves session cookies."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread
from fastapi import Request
from starlette.responses import JSONResponse

from cardlab.core.files import check_folder
from cardlab_play.agent_catalog import AgentCatalog
from cardlab_play.belief_networks import BeliefNetworks
from cardlab_play.database import default_address, open_database
from cardlab_play.deals import load_secret
from cardlab_play.errors import one_line
from cardlab_play.options import PlayOptions
from cardlab_play.sessions import COOKIE, SessionStore
from cardlab_play.table_store import TableStore

_YEAR = 365 * 24 * 3600

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass
class Dispatcher:
    """Thread pools and table locks around the table store and the sessions."""

    store: TableStore
    sessions: SessionStore
    belief_networks: BeliefNetworks
    options: PlayOptions

    def __post_init__(self) -> None:
        self._fast = anyio.CapacityLimiter(self.options.threads)
        self._slow = anyio.CapacityLimiter(self.options.slow_threads)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._background = anyio.CapacityLimiter(1)
        self._last_request = -float("inf")  # time of the last request
        self._tasks: dict[str, asyncio.Task[None]] = {}  # strong references: the event loop holds tasks weakly

    async def run(self, work: Callable[[], T], slow: bool = False) -> T:
        """Run `work` in a thread of the fast or the slow pool."""
        return await anyio.to_thread.run_sync(work, limiter=self._slow if slow else self._fast)

    def run_in_background(self, name: str, work: Callable[[], None]) -> None:
        """Run `work` after the reply, one job at a time. No-op if a job of this `name` is waiting."""
        if name not in self._tasks:
            self._tasks[name] = asyncio.create_task(self._run_in_background(name, work))

    async def _run_in_background(self, name: str, work: Callable[[], None]) -> None:
        try:
            await anyio.to_thread.run_sync(work, limiter=self._background)
        except Exception as error:  # no caller waits for the result
            _log.warning("%s: %s", name, one_line(error))
        finally:
            self._tasks.pop(name, None)

    def idle_seconds(self) -> float:
        """Time since the last request."""
        return time.monotonic() - self._last_request

    def lock(self, table_id: str) -> asyncio.Lock:
        """The lock of a table. Waiting requests hold no thread."""
        return self._locks.setdefault(table_id, asyncio.Lock())

    async def find_user(self, request: Request) -> int | None:
        """The user id of the request's cookie, None without a valid one."""
        self._last_request = time.monotonic()
        return await self.run(partial(self.sessions.find, request.cookies.get(COOKIE)))

    async def find_or_create_user(self, request: Request) -> tuple[int, str | None]:
        """The user id, and for a new user the cookie's token."""
        user_id = await self.find_user(request)
        return (user_id, None) if user_id is not None else await self.run(self.sessions.create)


def make_dispatcher(options: PlayOptions, **store_fields: Any) -> Dispatcher:
    """The dispatcher for `options`. Tests override fields of the table store."""
    # both validate options: they come before anything is written
    agents, belief_networks = AgentCatalog(options), BeliefNetworks(options.belief)
    engine = open_database(options.database or default_address(check_folder("play.folder", options.folder)))
    secret = load_secret(Path(options.folder, "secret"), options.secret)
    store = TableStore(options, engine, secret, agents, **store_fields)
    return Dispatcher(store, SessionStore(engine, options.limits.name_length), belief_networks, options)


def json_response(content: Any, status: int = 200, token: str | None = None, secure: bool = False) -> JSONResponse:
    """A JSON response. `token` sets the cookie of a new session."""
    response = JSONResponse(content, status)
    if token is not None:
        response.set_cookie(COOKIE, token, max_age=_YEAR, httponly=True, samesite="strict", secure=secure)
    return response
