"""The addresses under /api; docs/play.md tells them with examples."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import JSONResponse

from cardlab_play.advice_service import Consulting
from cardlab_play.choices import choices_message
from cardlab_play.deal_factory import Order
from cardlab_play.dispatcher import Desk, answer
from cardlab_play.errors import NotFound, WrongValue
from cardlab_play.leaderboard_routes import add_standings
from cardlab_play.players import Player
from cardlab_play.request_models import Move, NewTable, PlayerMessage, Problem, Renaming, Resignation, TableMessage
from cardlab_play.serializers import listed_message, table_message
from cardlab_play.table_store import Held

AgentQuery = Annotated[str | None, Query(max_length=200)]
SearchQuery = Annotated[str | None, Query(max_length=64)]
TableId = Annotated[str, Path(min_length=1, max_length=64)]
MOST_TOLD = 100  # events of the past
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem} for status in (400, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503)
}


def make_router(desk: Desk, consulting: Consulting) -> APIRouter:
    """All addresses, at `desk`."""
    router = APIRouter(prefix="/api", responses=PROBLEMS)
    _add_session(router, desk)
    _add_tables(router, desk)
    _add_moves(router, desk)
    _add_thoughts(router, desk, consulting)
    add_standings(router, desk)
    return router


def _add_session(router: APIRouter, desk: Desk) -> None:
    @router.get("/choices")
    async def choices() -> JSONResponse:
        """What can be chosen."""
        return answer({"games": await desk.run(partial(choices_message, desk.house.players))})

    @router.get("/session")
    async def session(request: Request) -> JSONResponse:
        """The name of the session."""
        person = await desk.person(request)
        return answer({"name": await desk.run(partial(desk.people.name, person))})

    @router.put("/session")
    async def rename(request: Request, renaming: Renaming) -> JSONResponse:
        """Give the session a name."""
        person, token = await desk.registered(request)
        name = await desk.run(partial(desk.people.rename, person, renaming.name))
        return answer({"name": name}, token=token, secure=desk.options.secure)

    _ = choices, session, rename


def _add_tables(router: APIRouter, desk: Desk) -> None:
    @router.get("/tables")
    async def tables(request: Request) -> JSONResponse:
        """The open tables of the session."""
        person = await desk.person(request)
        rows = [] if person is None else await desk.run(partial(desk.house.open_tables, person))
        return answer({"tables": [listed_message(row, desk.house.players) for row in rows]})

    @router.post("/tables", status_code=201, response_model=TableMessage)
    async def open_table(request: Request, new: NewTable) -> JSONResponse:
        """Open a table."""
        work = _opening(desk, new)
        person, token = await desk.registered(request)
        held = await desk.run(partial(work, person))
        message = await desk.run(partial(table_message, held, desk.house.players))
        _find_par(desk, held)
        return answer(message, 201, token, desk.options.secure)

    @router.get("/tables/{table_id}", response_model=TableMessage)
    async def table(request: Request, table_id: TableId) -> JSONResponse:
        """A table as it stands."""
        person = await _person(desk, request)
        async with desk.lock(table_id):
            held = await desk.run(partial(desk.house.find, person, table_id))
            if held.table.over and desk.house.lacks_par(held):
                _find_par(desk, held)
            return answer(await desk.run(partial(table_message, held, desk.house.players)))

    @router.get("/tables/{table_id}/history")
    async def history(request: Request, table_id: TableId) -> JSONResponse:
        """What happened at a table so far."""
        person = await _person(desk, request)
        async with desk.lock(table_id):
            held = await desk.run(partial(desk.house.find, person, table_id))
            return answer({"events": await desk.run(partial(held.table.history, MOST_TOLD))})

    _ = tables, open_table, table, history


def _add_moves(router: APIRouter, desk: Desk) -> None:
    @router.post("/tables/{table_id}/moves", response_model=TableMessage)
    async def move(request: Request, table_id: TableId, move: Move) -> JSONResponse:
        """Play an action; the reply has what the agents did."""

        def play(held: Held) -> None:
            desk.house.move(held, move.action, move.number)

        return await _changed(desk, request, table_id, play)

    @router.post("/tables/{table_id}/resignation", response_model=TableMessage)
    async def resign(request: Request, table_id: TableId, resignation: Resignation) -> JSONResponse:
        """Give the game up."""

        def give_up(held: Held) -> None:
            desk.house.give_up(held, resignation.number)

        return await _changed(desk, request, table_id, give_up, to_end=True)

    _ = move, resign


def _add_thoughts(router: APIRouter, desk: Desk, consulting: Consulting) -> None:
    async def held_for(request: Request, table_id: str) -> Held:
        person = await _person(desk, request)
        async with desk.lock(table_id):
            return await desk.run(partial(desk.house.find, person, table_id))

    @router.get("/tables/{table_id}/advice")
    async def advise(
        request: Request, table_id: TableId, agent: AgentQuery = None, search: SearchQuery = None
    ) -> JSONResponse:
        """What an agent would do in the person's place."""
        held = await held_for(request, table_id)
        async with desk.lock(table_id):
            return answer(await desk.run(lambda: consulting.advise(held, agent, search), slow=True))

    @router.get("/tables/{table_id}/replay")
    async def replay(request: Request, table_id: TableId, agent: AgentQuery = None) -> JSONResponse:
        """The game that is over, with what an agent makes of the person's moves."""
        held = await held_for(request, table_id)
        return answer(await desk.run(lambda: consulting.review(held, agent), slow=True))

    _ = advise, replay


def _find_par(desk: Desk, held: Held) -> None:
    desk.run_later(f"par of table {held.row.id}", partial(desk.house.prepare_par, held))


async def _changed(
    desk: Desk, request: Request, table_id: str, change: Callable[[Held], None], *, to_end: bool = False
) -> JSONResponse:
    """The table after `change`, in the threads that its agents need."""
    person = await _person(desk, request)
    async with desk.lock(table_id):
        held = await desk.run(partial(desk.house.find, person, table_id, to_end=to_end))

        def work() -> dict[str, Any]:
            change(held)
            return table_message(held, desk.house.players)

        slow = any(map(desk.house.players.is_slow, held.opponents))
        return answer(await desk.run(work, slow=slow))


async def _person(desk: Desk, request: Request) -> int:
    """Whose session it is; NotFound for nobody's, who has no table."""
    person = await desk.person(request)
    if person is None:
        raise NotFound("there is no such table", None)
    return person


def _opening(desk: Desk, new: NewTable) -> Any:
    """How to open the table that is asked for: (person) → Held."""
    house = desk.house
    if new.deal is not None:
        for key in ("options", "seat", "opponents", "par"):
            if getattr(new, key) is not None:
                raise WrongValue(f"{key}: must be left out with a deal, which has its own", key)
        if new.deal == "daily":
            return partial(house.open_daily, game=new.game)
        return partial(house.open_shared, deal_id=new.deal, game=new.game)
    order = Order(
        new.game,
        dict(new.options or {}),
        new.seat or 0,
        None if new.opponents is None else tuple(map(_player, new.opponents)),
        None if new.par is None else _player(new.par),
    )
    return partial(house.open_fresh, order=order)


def _player(message: PlayerMessage) -> Player:
    return Player(message.agent, message.search)
