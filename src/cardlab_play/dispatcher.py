"""What the routes share: the table store, the sessions, table locks, a pool of slow threads and background work."""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import anyio
from sqlalchemy import URL

from cardlab.core.files import check_folder
from cardlab_play.agent_catalog import AgentCatalog
from cardlab_play.belief_networks import BeliefNetworks
from cardlab_play.database import open_database, sqlite_address
from cardlab_play.deals import load_secret
from cardlab_play.errors import one_line
from cardlab_play.options import PlayOptions
from cardlab_play.sessions import SessionStore
from cardlab_play.table_store import TableStore

_log = logging.getLogger(__name__)


@dataclass
class Dispatcher:
    """The table store and the sessions, and the pool that runs requests in parallel."""

    store: TableStore
    sessions: SessionStore
    belief_networks: BeliefNetworks
    options: PlayOptions

    def __post_init__(self) -> None:
        self.slow_threads = anyio.CapacityLimiter(self.options.slow_threads)
        self.last_request = -float("inf")  # time.monotonic()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.background = ThreadPoolExecutor(1, thread_name_prefix="background")
        self._waiting: set[str] = set()  # names of background jobs

    def idle_seconds(self) -> float:
        """Time since the last request."""
        return time.monotonic() - self.last_request

    def lock(self, table_id: str) -> asyncio.Lock:
        """The lock of a table. Waiting requests hold no thread."""
        return self._locks.setdefault(table_id, asyncio.Lock())

    def run_in_background(self, name: str, work: Callable[[], None]) -> None:
        """Run `work` after the reply, one job at a time. No-op if a job of this `name` is waiting."""
        if name not in self._waiting:
            self._waiting.add(name)
            self.background.submit(self._run_job, name, work)

    def _run_job(self, name: str, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception as error:  # no caller waits for the result
            _log.warning("%s: %s", name, one_line(error))
        finally:
            self._waiting.discard(name)


def make_dispatcher(options: PlayOptions, **store_fields: Any) -> Dispatcher:
    """The dispatcher for `options`. Tests override fields of the table store."""
    # both validate options: they come before anything is written
    agents, belief_networks = AgentCatalog(options), BeliefNetworks(options.belief)
    engine = open_database(options.database or _sqlite_file(options.folder))
    secret = load_secret(Path(options.folder, "secret"), options.secret)
    store = TableStore(options, engine, secret, agents, **store_fields)
    return Dispatcher(store, SessionStore(engine, options.limits), belief_networks, options)


def _sqlite_file(folder: str) -> URL:
    """The database in `folder`, which is created for the owner only."""
    with suppress(OSError, ValueError):  # check_folder reports them
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    return sqlite_address(str(check_folder("play.folder", folder)))
