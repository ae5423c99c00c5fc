"""All tables: opened, found again, moved and kept. Every method may be called from any thread."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, func, select, update
from sqlalchemy.orm import Session

from cardlab.agents.random_agent import RandomAgent
from cardlab.core.options import InvalidOption
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Game
from cardlab_play.database import DAILY, FINISHED, FRESH, GIVEN_UP, OPEN, DealRow, GameRow, now
from cardlab_play.deal_factory import Dealer, Order
from cardlab_play.deals import Deal, Secret, new_id
from cardlab_play.errors import Conflict, Full, NotFound, Stuck, TooMany, Unloadable, one_line
from cardlab_play.options import PlayOptions
from cardlab_play.players import Player, Players
from cardlab_play.settings import game_of
from cardlab_play.table import Table

SHARED = "shared"

_log = logging.getLogger(__name__)


@dataclass
class Held:
    """A table in memory with its row of the database."""

    row: GameRow
    game: Game
    table: Table
    opponents: tuple[Player, ...]  # by seat, without the person's
    par: Player
    par_fails: bool = False  # then the game goes without
    stood_in: bool = False  # whether an agent that cannot play has been replaced by random play: no result counts then


@dataclass
class House:
    """Tables in memory over the database: what is not in memory is played again from its actions."""

    options: PlayOptions
    engine: Engine
    secret: Secret
    players: Players
    deal_of: Callable[[bytes], Deal] = Deal  # from a seed
    fresh_seed: Callable[[], bytes] | None = None
    make_id: Callable[[], str] = new_id

    def __post_init__(self) -> None:
        self.dealer = Dealer(self.secret, self.players)
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._lock = threading.Lock()

    def open_fresh(self, person: int, order: Order) -> Held:
        """A table at a deal that nobody has seen."""
        seed = self.fresh_seed() if self.fresh_seed else self.secret.fresh().seed
        with self._session() as session:
            self._check_room(session, person)
            deal = self.dealer.fresh(session, seed, order)
            return self._seat(session, person, deal, FRESH)

    def open_daily(self, person: int, game: str) -> Held:
        """A table at today's deal of `game`."""
        with self._session() as session:
            self._check_room(session, person)
            deal = self.dealer.today(session, game)
            return self._seat(session, person, deal, DAILY)

    def open_shared(self, person: int, deal_id: str, game: str) -> Held:
        """A table at the deal with this id, as it was played before."""
        with self._session() as session:
            self._check_room(session, person)
            deal = session.get(DealRow, deal_id)
            if deal is None or deal.game != game:
                raise NotFound(f"there is no deal of {game} with this id", "deal")
            return self._seat(session, person, deal, DAILY if deal.kind == DAILY else SHARED)

    def find(self, person: int, table_id: str, *, to_end: bool = False) -> Held:
        """The table `table_id` of `person`; NotFound for another's as well.

        Unloadable or InvalidOption where an agent is gone, but not for a table that is over, or wanted `to_end` it.
        """
        with self._lock:
            held = self._held.get(table_id)
            if held is not None:
                self._held.move_to_end(table_id)
        if held is None:
            with self._session() as session:
                row = session.get(GameRow, table_id)
                if row is not None and row.person_id == person:
                    held = self._load(row, to_end=to_end)
                    if not held.stood_in or held.table.over:
                        held = self._keep(held)
                    self._save(held)
        if held is None or held.row.person_id != person:
            raise NotFound("there is no such table", None)
        return held

    def move(self, held: Held, action: int, number: int) -> None:
        """Play the person's `action`, the one after `number` actions, and what the agents answer."""
        self._check_turn(held, number)
        held.table.answer(action)
        self._go_on(held)

    def prepare_par(self, held: Held) -> None:
        """Find par while the person plays: for agents that search it may come after the end, and is kept then."""
        par = self._play_par(held)
        if par is not None and held.table.over:
            with Session(self.engine) as session:
                self._keep_par(session, held.row)
                session.commit()

    def lacks_par(self, held: Held) -> bool:
        """Whether par is still to be found: the server has begun anew, or it takes longer than the game."""
        return held.row.deal.par_payoff is None and not held.par_fails

    def give_up(self, held: Held, number: int) -> None:
        """End the game: the person's seat is played on at random, and the result counts."""
        self._check_turn(held, number)
        with self._safely(held):
            try:
                held.table.finish(RandomAgent(held.game))
            except Exception as error:  # an agent that fails keeps nobody at its table
                _log.warning("a game of %s is ended without its agents: %s", held.game.spec.name, one_line(error))
                self._end_without_agents(held)
            self._save(held, GIVEN_UP)

    def open_tables(self, person: int) -> list[GameRow]:
        """The tables that `person` can go on with, the last moved first."""
        with self._session() as session:
            query = select(GameRow).where(GameRow.person_id == person, GameRow.status == OPEN)
            return list(session.scalars(query.order_by(GameRow.moved.desc())).unique())

    def _session(self) -> Session:
        return Session(self.engine, expire_on_commit=False)

    def _check_room(self, session: Session, person: int) -> None:
        limits = self.options.limits
        count = select(func.count()).select_from(GameRow).where(GameRow.status == OPEN)
        if (session.scalar(count.where(GameRow.person_id == person)) or 0) >= limits.tables_per_session:
            raise TooMany(f"finish or give up a table first: {limits.tables_per_session} are the most", None)
        if (session.scalar(count) or 0) >= limits.tables:
            raise Full("the server has no room for another table now", None)

    def _seat(self, session: Session, person: int, deal: DealRow, kind: str) -> Held:
        """A new game of `person` at `deal`; only the first one that a person begins at a deal counts."""
        session.flush()
        seen = select(GameRow.id).where(GameRow.person_id == person, GameRow.deal_id == deal.id).limit(1)
        counts = session.scalar(seen) is None
        row = GameRow(
            id=self.make_id(),
            deal_id=deal.id,
            person_id=person,
            kind=kind,
            counts=counts,
            status=OPEN,
            actions=[],
            payoffs=None,
            score=None,
            began=now(),
            moved=now(),
            deal=deal,
        )
        held = self._load(row)
        row.actions = list(held.table.actions)
        session.add(row)
        session.commit()
        session.expunge_all()
        self._keep(held)
        if held.table.over:
            self._save(held)
        return held

    def _load(self, row: GameRow, *, to_end: bool = False) -> Held:
        """The table of `row`, with its moves played again."""
        game, _ = game_of(row.deal.game, row.deal.options)
        opponents = tuple(Player(**player) for player in row.deal.opponents)
        agents: list[Agent] = []
        stood_in = False
        for player in opponents:
            try:
                self.players.check(game, player, "opponents")
                agents.append(self.players.load(game, player))
            except (Unloadable, InvalidOption):
                if row.status == OPEN and not to_end:
                    raise
                agents.append(RandomAgent(game))
                stood_in = True
        table = Table(game, self.deal_of(row.deal.seed), row.deal.seat, agents)
        table.repeat(row.actions)
        _play_on(table)
        return Held(row, game, table, opponents, Player(**row.deal.par), par_fails=stood_in, stood_in=stood_in)

    def _end_without_agents(self, held: Held) -> None:
        """Play `held` from its last move that was kept to its end, all at random."""
        game, deal = held.game, held.row.deal
        agent = RandomAgent(game)
        held.table = Table(game, self.deal_of(deal.seed), deal.seat, [agent] * len(held.opponents))
        held.table.repeat(held.row.actions)
        held.table.finish(agent)
        held.par_fails = held.stood_in = True

    def _keep(self, held: Held) -> Held:
        """Hold the table in memory, or give the one that another thread has put there."""
        with self._lock:
            kept = self._held.setdefault(held.row.id, held)
            self._held.move_to_end(held.row.id)
            while len(self._held) > self.options.limits.kept_in_memory:
                self._held.popitem(last=False)
        return kept

    def _check_turn(self, held: Held, number: int) -> None:
        if held.table.over:
            raise Conflict("the game is over", None)
        if number != len(held.table.actions):
            raise Conflict(f"the table has gone on to number {len(held.table.actions)}: look at it again", "number")

    def _go_on(self, held: Held) -> None:
        with self._safely(held):
            _play_on(held.table)
            self._save(held)

    def _safely(self, held: Held) -> "_Forgetting":
        return _Forgetting(self, held)

    def forget(self, held: Held) -> None:
        """Drop the table from memory: the next look at it starts from what is in the database."""
        with self._lock:
            self._held.pop(held.row.id, None)

    def _save(self, held: Held, ended: str = FINISHED) -> None:
        """Write the moves, and the result of a game that has just ended."""
        row, table = held.row, held.table
        if row.status != OPEN or (row.actions == table.actions and not table.over):
            return
        values: dict[str, Any] = {"actions": list(table.actions), "moved": now()}
        if table.over:
            par = self._play_par(held) if self._par_is_quick(held) else held.row.deal.par_payoff
            values |= {"status": ended, "payoffs": table.payoffs(), "score": _score(table, par)}
            values["counts"] = row.counts and not held.stood_in
        with Session(self.engine) as session:
            session.execute(update(GameRow).where(GameRow.id == row.id, GameRow.status == OPEN).values(**values))
            if table.over:
                self._keep_par(session, row)
            session.commit()
        for key, value in values.items():
            setattr(row, key, value)

    def _play_par(self, held: Held) -> float | None:
        """What the deal pays to its par agent in the person's seat; None, told in the log, where that agent fails.

        Once it is known it stays: `prepare_par` plays it while the person does, so that the last reply need not wait.
        """
        deal = held.row.deal
        if self.lacks_par(held):
            try:
                self.players.check(held.game, held.par, "par")
                rival = Table(held.game, self.deal_of(deal.seed), deal.seat, held.table.agents)
                rival.play_on()
                rival.finish(self.players.load(held.game, held.par))
                deal.par_payoff = rival.payoffs()[deal.seat]
            except Exception as error:  # a game ends, whatever becomes of par
                held.par_fails = True
                _log.warning("a game of %s goes without par: %s", held.game.spec.name, one_line(error))
        return deal.par_payoff

    def _par_is_quick(self, held: Held) -> bool:
        """Whether the last move waits for par: where it takes no time, and alone, where the score is made of it."""
        alone = held.game.spec.num_players == 1
        return alone or not any(map(self.players.is_slow, (*held.opponents, held.par)))

    def _keep_par(self, session: Session, row: GameRow) -> None:
        if row.deal.par_payoff is not None:
            session.execute(update(DealRow).where(DealRow.id == row.deal_id).values(par_payoff=row.deal.par_payoff))


@dataclass
class _Forgetting:
    """Forgets a table when something fails inside: what is in memory may be ahead of what was kept."""

    house: House
    held: Held

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.house.forget(self.held)


def _play_on(table: Table) -> None:
    """Let the agents move until the person is to; Stuck, told in the log, where one of them fails."""
    try:
        table.play_on()
    except Exception as error:  # whatever is wrong with an agent that somebody put there
        name, reason = table.game.spec.name, one_line(error)
        _log.warning("a game of %s cannot go on: %s", name, reason)
        told = f"an agent failed at its move ({reason}); the table is as it was before: try again, or give it up"
        raise Stuck(told) from error


def _score(table: Table, par: float | None) -> float | None:
    """What standings are made of; None for a game alone without par, which cannot be compared."""
    payoff = table.payoffs()[table.seat]
    if table.game.spec.num_players > 1:
        return payoff
    return None if par is None else payoff - par
