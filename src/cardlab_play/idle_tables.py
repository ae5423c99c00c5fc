"""Resigns tables that have been idle for too long, so that new tables can open."""

import logging
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from cardlab_play.database import OPEN, RESIGNED, GameRow, now
from cardlab_play.dispatcher import Dispatcher
from cardlab_play.errors import one_line
from cardlab_play.table_store import TableStore

_BATCH_SIZE = 50  # tables per query

_log = logging.getLogger(__name__)


async def close_idle_tables(dispatcher: Dispatcher) -> int:
    """Resign idle tables, each under its lock. Returns their number."""
    tables = IdleTables(dispatcher.store)
    idle = await dispatcher.run(tables.find)
    for user_id, table_id in idle:
        async with dispatcher.lock(table_id):
            await dispatcher.run(partial(tables.close, user_id, table_id), slow=True)
    return len(idle)


@dataclass(frozen=True)
class IdleTables:
    """Tables without a move for `play.limits.idle_hours`."""

    store: TableStore

    def find(self) -> list[tuple[int, str]]:
        """(user id, table id) of up to _BATCH_SIZE idle tables."""
        with Session(self.store.engine) as session:
            return [(user_id, table_id) for user_id, table_id in session.execute(self._query().limit(_BATCH_SIZE))]

    def close(self, user_id: int, table_id: str) -> None:
        """Resign the table unless it has moved meanwhile. A table that fails to load is closed without a result."""
        with Session(self.store.engine) as session:
            if session.execute(self._query().where(GameRow.id == table_id)).first() is None:
                return
        try:
            live = self.store.find(user_id, table_id, to_resign=True)
        except Exception as error:  # its game or options no longer exist
            _log.warning("table %s is closed without a result: %s", table_id, one_line(error))
            self._close_without_result(table_id)
            return
        if not live.table.is_over:
            self.store.resign(live, len(live.table.actions))

    def _query(self) -> Select[int, str]:
        limit = now() - timedelta(hours=self.store.options.limits.idle_hours)
        return select(GameRow.user_id, GameRow.id).where(GameRow.status == OPEN, GameRow.moved < limit)

    def _close_without_result(self, table_id: str) -> None:
        with Session(self.store.engine) as session:
            query = update(GameRow).where(GameRow.id == table_id, GameRow.status == OPEN)
            session.execute(query.values(status=RESIGNED, counts=False))
            session.commit()
