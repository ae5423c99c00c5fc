"""Closes unused tables, so that new tables can open.

Idle tables are resigned after `play.limits.idle_hours`, and their results count. Those of sessions that have never made
a move are closed after `play.limits.unplayed_minutes` without a result, by one statement.
"""

import logging
from datetime import timedelta

from anyio import sleep, to_thread
from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session, aliased

from cardlab_play.database import CLOSED, OPEN, GameRow, now
from cardlab_play.dispatcher import Dispatcher
from cardlab_play.errors import one_line
from cardlab_play.table_store import TableStore

CHECK_SECONDS = 300.0
_BATCH_SIZE = 50  # tables per query

_log = logging.getLogger(__name__)


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
    limit = now() - timedelta(minutes=store.options.limits.unplayed_minutes)
    other = aliased(GameRow)
    has_moved = select(other.id).where(other.user_id == GameRow.user_id, other.moved > other.began).exists()
    unplayed = update(GameRow).where(GameRow.status == OPEN, GameRow.began < limit, ~has_moved)
    with Session(store.engine) as session, session.begin():
        session.execute(unplayed.values(status=CLOSED, counts=False), execution_options={"synchronize_session": False})


def find_idle_tables(store: TableStore) -> list[tuple[int, str]]:
    """(user id, table id) of up to _BATCH_SIZE idle tables."""
    with Session(store.engine) as session:
        return [(user_id, table_id) for user_id, table_id in session.execute(_query(store).limit(_BATCH_SIZE))]


def close_idle_table(store: TableStore, user_id: int, table_id: str) -> None:
    """Resign the table unless it has moved meanwhile. A table that fails to load is closed without a result."""
    with Session(store.engine) as session:
        if session.execute(_query(store).where(GameRow.id == table_id)).first() is None:
            return
    try:
        live = store.find(user_id, table_id, to_resign=True)
    except Exception as error:  # its game or options no longer exist
        _log.warning("table %s is closed without a result: %s", table_id, one_line(error))
        with Session(store.engine) as session, session.begin():
            unfinished = update(GameRow).where(GameRow.id == table_id, GameRow.status == OPEN)
            session.execute(unfinished.values(status=CLOSED, counts=False))
        return
    if not live.table.is_over:
        store.resign(live, len(live.table.actions))


def _query(store: TableStore) -> Select[int, str]:
    limit = now() - timedelta(hours=store.options.limits.idle_hours)
    return select(GameRow.user_id, GameRow.id).where(GameRow.status == OPEN, GameRow.moved < limit)
