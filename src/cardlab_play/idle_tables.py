"""Tables that nobody has come back to: given up for their owners, so that there is room for others."""

import logging
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy import Select, select, update
from sqlalchemy.orm import Session

from cardlab_play.database import GIVEN_UP, OPEN, GameRow, now
from cardlab_play.dispatcher import Desk
from cardlab_play.errors import one_line
from cardlab_play.table_store import House

_AT_ONCE = 50  # tables listed

_log = logging.getLogger(__name__)


async def close_idle_tables(desk: Desk) -> int:
    """Give up the tables that nobody has moved at for too long, each while nobody else is at it; how many."""
    tables = IdleTables(desk.house)
    idle = await desk.run(tables.listed)
    for person, table_id in idle:
        async with desk.lock(table_id):
            await desk.run(partial(tables.close, person, table_id), slow=True)
    return len(idle)


@dataclass(frozen=True)
class IdleTables:
    """Those of a house that nobody has moved at for `play.limits.idle_hours`."""

    house: House

    def listed(self) -> list[tuple[int, str]]:
        """(person, table) of some of them."""
        with Session(self.house.engine) as session:
            return [(person, table_id) for person, table_id in session.execute(self._query().limit(_AT_ONCE))]

    def close(self, person: int, table_id: str) -> None:
        """Give the table up, unless somebody has come back to it meanwhile; one that cannot be played has no result."""
        with Session(self.house.engine) as session:
            if session.execute(self._query().where(GameRow.id == table_id)).first() is None:
                return
        try:
            held = self.house.find(person, table_id, to_end=True)
        except Exception as error:  # its game or its rules have changed
            _log.warning("table %s is closed without a result: %s", table_id, one_line(error))
            self._write_off(table_id)
            return
        if not held.table.over:
            self.house.give_up(held, len(held.table.actions))

    def _query(self) -> Select[int, str]:
        limit = now() - timedelta(hours=self.house.options.limits.idle_hours)
        return select(GameRow.person_id, GameRow.id).where(GameRow.status == OPEN, GameRow.moved < limit)

    def _write_off(self, table_id: str) -> None:
        with Session(self.house.engine) as session:
            query = update(GameRow).where(GameRow.id == table_id, GameRow.status == OPEN)
            session.execute(query.values(status=GIVEN_UP, counts=False))
            session.commit()
