"""Open tables in memory, backed by the database. All methods are thread-safe."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, func, select, update
from sqlalchemy.orm import Session

from cardlab.agents.exploration import RandomAgent
from cardlab.core.messages import InvalidOption
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Game
from cardlab_play.agent_catalog import AgentCatalog, AgentChoice
from cardlab_play.database import CLOSED, FINISHED, OPEN, RESIGNED, DealRow, GameRow, now
from cardlab_play.deals import (
    Deal,
    DealFactory,
    Secret,
    check_capacity,
    check_no_counting_game,
    has_game,
    lock_user,
    new_id,
    new_seed,
)
from cardlab_play.errors import AgentUnloadable, RequestError, one_line
from cardlab_play.offered_games import make_offered_game
from cardlab_play.options import PlayOptions
from cardlab_play.request_guards import TableRequest
from cardlab_play.table import LiveTable, Table, check_practice

MAX_IN_MEMORY = 1000
"""Tables in memory; others are replayed from their actions on request."""
_log = logging.getLogger(__name__)


@dataclass
class TableStore:
    """Tables by id. A table outside the memory is rebuilt from the deal and the actions in its database row.

    Several servers may share a database: a table that another server has changed is rebuilt.
    """

    options: PlayOptions
    engine: Engine
    secret: Secret
    agents: AgentCatalog
    make_deal: Callable[[bytes], Deal] = Deal  # from a seed
    make_seed: Callable[[], bytes] = new_seed
    make_id: Callable[[], str] = new_id

    def __post_init__(self) -> None:
        self.deal_factory = DealFactory(self.secret, self.agents, self.make_seed)
        self._tables: OrderedDict[str, LiveTable] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, user_id: int, request: TableRequest, address: str = "") -> LiveTable:
        """Open a table for a user at a client's `address`. Practice never counts, else the first game with a deal."""
        address, limits = self.secret.address_id(address), self.options.limits
        with Session(self.engine, expire_on_commit=False) as session:
            check_capacity(session, limits, user_id, address)  # before the agents move: that may be slow
            deal, kind = self.deal_factory.find_or_make(session, request, user_id)
            check_no_counting_game(session, user_id, deal.id)
            session.commit()
            began = now()
            row = GameRow(
                id=self.make_id(),
                deal_id=deal.id,
                user_id=user_id,
                kind=kind,
                counts=False,
                status=OPEN,
                actions=[],
                began=began,
                moved=began,
                address=address,
                deal=deal,
            )
            live = self._load(row)
            row.actions = list(live.table.actions)
            lock_user(session, user_id)
            check_capacity(session, limits, user_id, address)
            check_no_counting_game(session, user_id, deal.id)
            row.counts = not request.practice and not has_game(session, user_id, deal.id)
            session.add(row)
            session.commit()
            session.expunge_all()
        self._cache(live)
        if live.table.is_over:
            self._save(live)
        return live

    def find(self, user_id: int | None, table_id: str, *, to_resign: bool = False) -> LiveTable:
        """The table `table_id` of the user. Raises a 404, also for the tables of other users.

        Raises a 409 for a table that does not count while another one with its deal does and is not over.
        Raises AgentUnloadable or InvalidOption where an agent no longer loads, unless the game is over or the caller
        will resign it (`to_resign`).
        """
        with Session(self.engine, expire_on_commit=False) as session:
            row = session.get(GameRow, table_id)
            if row is None or row.user_id != user_id:
                raise RequestError(404, "there is no such table")
            if row.status == CLOSED:
                raise RequestError(404, "the table was closed without a result")
            if not row.counts:
                check_no_counting_game(session, user_id, row.deal_id)
        live = self._tables.get(table_id)
        if live is None or (live.row.status, live.row.actions) != (row.status, row.actions):
            live = self._load(row, to_resign=to_resign)
        if not live.agents_replaced or live.table.is_over:
            self._cache(live)
        self._save(live)
        return live

    def play_move(self, live: LiveTable, action: int, number: int) -> None:
        """Play `action` for the player after `number` actions of the game, then let the agents move."""
        self._check_turn(live, number)
        live.table.play_action(action)
        with self._saving(live):
            _play_agents(live)

    def undo(self, live: LiveTable, number: int) -> None:
        """Take back the player's last move and all moves after it, in a game that does not count and is not over."""
        check_practice(live, "undo")
        self._check_turn(live, number)
        table = live.table
        own = [step.number for step in table.steps if step.player == table.seat]
        if not own:
            raise RequestError(409, "you have not moved yet: there is no move to take back")
        actions = table.actions[: own[-1] - 1]
        with self._saving(live):
            live.table = self._replay(live.row, actions, table.game, table.agents)

    def compute_par(self, live: LiveTable) -> None:
        """Compute the par payoff, and save it if the game has ended meanwhile."""
        par = self._par_payoff(live)
        if par is not None and live.table.is_over:
            with Session(self.engine) as session, session.begin():
                self._save_par(session, live.row)

    def needs_par(self, live: LiveTable) -> bool:
        """Whether the par payoff is still unknown and has not failed."""
        return live.row.deal.par_payoff is None and not live.par_failed

    def resign(self, live: LiveTable, number: int) -> None:
        """Resign: a random agent finishes the game for the player, and the result counts."""
        self._check_turn(live, number)
        with self._saving(live, RESIGNED):
            try:
                live.table.finish(RandomAgent(live.table.game))
            except Exception as error:  # a failing agent must not keep the player at the table
                game = live.row.deal.game
                _log.warning("a game of %s is finished by random agents: %s", game, one_line(error))
                self._finish_at_random(live)

    def open_tables(self, user_id: int | None) -> list[GameRow]:
        """The unfinished games of the user, the last moved first."""
        query = select(GameRow).where(GameRow.user_id == user_id, GameRow.status == OPEN)
        with Session(self.engine) as session:
            return list(session.scalars(query.order_by(GameRow.moved.desc())).unique())

    def _load(self, row: GameRow, *, to_resign: bool = False) -> LiveTable:
        """Rebuild the table of `row` by replaying its actions."""
        deal = row.deal
        game, _ = make_offered_game(deal.game, deal.options)
        agents: list[Agent] = []
        agents_replaced = False
        for opponent in deal.opponents:
            try:
                agents.append(self.agents.load_offered(game, AgentChoice(**opponent), "opponents"))
            except (AgentUnloadable, InvalidOption):
                if row.status == OPEN and not to_resign:
                    raise
                agents.append(RandomAgent(game))
                agents_replaced = True
        table = self._replay(row, row.actions, game, agents)
        live = LiveTable(row, table, par_failed=agents_replaced, agents_replaced=agents_replaced)
        _play_agents(live)
        return live

    def _replay(self, row: GameRow, actions: Sequence[int], game: Game, agents: Sequence[Agent]) -> Table:
        """The table of `row` after `actions`."""
        table = Table(game, self.make_deal(row.deal.seed), row.deal.seat, agents)
        for action in actions:
            table.play_action(action)
        return table

    def _finish_at_random(self, live: LiveTable) -> None:
        """Replay the saved actions, then finish the game with random agents in all seats."""
        game = live.table.game
        agent = RandomAgent(game)
        live.table = self._replay(live.row, live.row.actions, game, [agent] * len(live.table.agents))
        live.table.finish(agent)
        live.par_failed = live.agents_replaced = True

    def _cache(self, live: LiveTable) -> None:
        """Put the table into memory."""
        with self._lock:
            self._tables[live.row.id] = live
            self._tables.move_to_end(live.row.id)
            while len(self._tables) > MAX_IN_MEMORY:
                self._tables.popitem(last=False)

    def _check_turn(self, live: LiveTable, number: int) -> None:
        if live.table.is_over:
            raise RequestError(409, "the game is over")
        if number != len(live.table.actions):
            raise RequestError(409, f"the table is at number {len(live.table.actions)} now: reload it", "number")

    @contextmanager
    def _saving(self, live: LiveTable, status: str = FINISHED) -> Generator[None]:
        """Save the table after the block. Evict it after an error: the memory may be ahead of the database."""
        try:
            yield
            self._save(live, status)
        except BaseException:
            self.evict(live)
            raise

    def evict(self, live: LiveTable) -> None:
        """Drop the table from memory. The next access rebuilds it from the database."""
        with self._lock:
            self._tables.pop(live.row.id, None)

    def _save(self, live: LiveTable, status: str = FINISHED) -> None:
        """Write the actions, and the result if the game has just ended.

        Raises a 409 if the table in the database has changed since it was read: another server has moved.
        """
        row, table = live.row, live.table
        if row.status != OPEN or (row.actions == table.actions and not table.is_over):
            return
        values: dict[str, Any] = {"actions": list(table.actions), "moved": now()}
        if table.is_over:
            par = self._par_payoff(live) if self._par_is_fast(live) else live.row.deal.par_payoff
            values |= {"status": status, "payoffs": table.payoffs(), "score": _score(table, par)}
            values["counts"] = row.counts and not live.agents_replaced
        unchanged = func.json_array_length(GameRow.actions) == len(row.actions)
        own = update(GameRow).where(GameRow.id == row.id, GameRow.status == OPEN, unchanged).returning(GameRow.id)
        with Session(self.engine) as session, session.begin():
            if session.scalar(own.values(**values)) is None:
                self.evict(live)
                raise RequestError(409, "the table has moved elsewhere meanwhile: reload it", "number")
            if table.is_over:
                self._save_par(session, row)
        for key, value in values.items():
            setattr(row, key, value)

    def _par_payoff(self, live: LiveTable) -> float | None:
        """Payoff of the par agent in the player's seat on the same deal. None, with a log line, where that agent fails.

        The payoff is cached in the deal: `compute_par` fills it while the player plays.
        """
        deal, game = live.row.deal, live.table.game
        if self.needs_par(live):
            try:
                agent = self.agents.load_offered(game, live.par, "par")
                par_table = Table(game, self.make_deal(deal.seed), deal.seat, live.table.agents)
                par_table.finish(agent)
                deal.par_payoff = par_table.payoffs()[deal.seat]
            except Exception as error:  # a failing par agent must not stop the game
                live.par_failed = True
                _log.warning("a game of %s has no par: %s", deal.game, one_line(error))
        return deal.par_payoff

    def _par_is_fast(self, live: LiveTable) -> bool:
        """Whether the last move waits for par: with fast agents, and in one-player games, whose score needs par."""
        return not live.row.deal.opponents or not any(map(self.agents.is_slow, (*live.opponents, live.par)))

    def _save_par(self, session: Session, row: GameRow) -> None:
        if row.deal.par_payoff is not None:
            session.execute(update(DealRow).where(DealRow.id == row.deal_id).values(par_payoff=row.deal.par_payoff))


def _play_agents(live: LiveTable) -> None:
    """Let the agents move until the player is to move. Raises a 500, with a log line, where an agent raises."""
    try:
        live.table.play_agents()
    except Exception as error:  # agents are third-party code
        _log.warning("an agent failed in a game of %s: %s", live.row.deal.game, one_line(error))
        message = f"an agent failed at its move ({one_line(error)}); the table is unchanged: try again, or resign"
        raise RequestError(500, message) from error


def _score(table: Table, par: float | None) -> float | None:
    """The leaderboard's score: the payoff, in one-player games minus par. None in a one-player game without par."""
    payoff = table.payoffs()[table.seat]
    if table.game.spec.num_players > 1:
        return payoff
    return None if par is None else payoff - par
