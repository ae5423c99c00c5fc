"""Where requests meet the house: threads for what takes time, and the cookie of each session."""

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
from cardlab_play.beliefs import Beliefs
from cardlab_play.database import default_address, open_database
from cardlab_play.deals import load_secret
from cardlab_play.errors import one_line
from cardlab_play.options import PlayOptions
from cardlab_play.players import Players
from cardlab_play.sessions import COOKIE, People
from cardlab_play.table_store import House

_YEAR = 365 * 24 * 3600

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass
class Desk:
    """Where requests meet the house: threads for what takes time, one at a time for each table."""

    house: House
    people: People
    beliefs: Beliefs
    options: PlayOptions

    def __post_init__(self) -> None:
        self._quick = anyio.CapacityLimiter(self.options.threads)
        self._slow = anyio.CapacityLimiter(self.options.slow_threads)
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._behind = anyio.CapacityLimiter(1)
        self._asked = -float("inf")  # when the last request came
        self._tasks: dict[str, asyncio.Task[None]] = {}  # the loop itself holds them weakly

    async def run(self, work: Callable[[], T], slow: bool = False) -> T:
        """`work` in a thread, so that other tables go on meanwhile."""
        return await anyio.to_thread.run_sync(work, limiter=self._slow if slow else self._quick)

    def run_later(self, name: str, work: Callable[[], None]) -> None:
        """`work` behind the reply to a request, one thing at a time; nothing that waits under this `name` already."""
        if name not in self._tasks:
            self._tasks[name] = asyncio.create_task(self._run_behind(name, work))

    async def _run_behind(self, name: str, work: Callable[[], None]) -> None:
        try:
            await anyio.to_thread.run_sync(work, limiter=self._behind)
        except Exception as error:  # nobody waits for it who could be told
            _log.warning("%s: %s", name, one_line(error))
        finally:
            self._tasks.pop(name, None)

    def quiet_seconds(self) -> float:
        """How long nobody has asked for anything."""
        return time.monotonic() - self._asked

    def lock(self, table_id: str) -> asyncio.Lock:
        """One request at a time for each table; who waits holds no thread."""
        return self._locks.setdefault(table_id, asyncio.Lock())

    async def person(self, request: Request) -> int | None:
        """Whose cookie came with the request; None for nobody's."""
        self._asked = time.monotonic()
        return await self.run(partial(self.people.find, request.cookies.get(COOKIE)))

    async def registered(self, request: Request) -> tuple[int, str | None]:
        """As `person`, but a new one for nobody, with the token of the cookie to set."""
        known = await self.person(request)
        return (known, None) if known is not None else await self.run(self.people.begin)


def make_desk(options: PlayOptions, **given: Any) -> Desk:
    """The house and its people over the database of `options`; `given` for the house, as tests do."""
    players, beliefs = Players(options), Beliefs(options.belief)  # first: nothing is written for what they find wrong
    engine = open_database(options.database or default_address(check_folder("play.folder", options.folder)))
    secret = load_secret(Path(options.folder, "secret"), options.secret)
    house = House(options, engine, secret, players, **given)
    return Desk(house, People(engine, options.limits.name_length), beliefs, options)


def answer(content: Any, status: int = 200, token: str | None = None, secure: bool = False) -> JSONResponse:
    """A reply, with the cookie of a session that has just begun."""
    response = JSONResponse(content, status)
    if token is not None:
        response.set_cookie(COOKIE, token, max_age=_YEAR, httponly=True, samesite="strict", secure=secure)
    return response
