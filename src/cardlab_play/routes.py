"""API routes; docs/play.md has examples."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from starlette.responses import JSONResponse

from cardlab_play.advice_service import AdviceService
from cardlab_play.agent_catalog import AgentChoice
from cardlab_play.deal_factory import GameRequest
from cardlab_play.dispatcher import Dispatcher, json_response
from cardlab_play.errors import InvalidValue, NotFound
from cardlab_play.leaderboard_routes import add_leaderboard_routes
from cardlab_play.request_models import (
    AgentRequest,
    ErrorResponse,
    MoveRequest,
    RenameRequest,
    ResignRequest,
    TableRequest,
    TableResponse,
)
from cardlab_play.serializers import games_message, listing_message, table_message
from cardlab_play.table_store import LiveTable

AgentQuery = Annotated[str | None, Query(max_length=200)]
SearchQuery = Annotated[str | None, Query(max_length=64)]
TableId = Annotated[str, Path(min_length=1, max_length=64)]
MAX_EVENTS = 100  # of a table's history
ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorResponse} for status in (400, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503)
}


def make_router(dispatcher: Dispatcher, advice_service: AdviceService) -> APIRouter:
    """All API routes."""
    router = APIRouter(prefix="/api", responses=ERROR_RESPONSES)
    _add_session_routes(router, dispatcher)
    _add_table_routes(router, dispatcher)
    _add_move_routes(router, dispatcher)
    _add_advice_routes(router, dispatcher, advice_service)
    add_leaderboard_routes(router, dispatcher)
    return router


def _add_session_routes(router: APIRouter, dispatcher: Dispatcher) -> None:
    @router.get("/games")
    async def games() -> JSONResponse:
        """The games with their options, agents and searches."""
        return json_response({"games": await dispatcher.run(partial(games_message, dispatcher.store.agents))})

    @router.get("/session")
    async def session(request: Request) -> JSONResponse:
        """The user name of the session."""
        user_id = await dispatcher.find_user(request)
        return json_response({"name": await dispatcher.run(partial(dispatcher.sessions.name, user_id))})

    @router.put("/session")
    async def rename(request: Request, body: RenameRequest) -> JSONResponse:
        """Set the user name of the session."""
        user_id, token = await dispatcher.find_or_create_user(request)
        name = await dispatcher.run(partial(dispatcher.sessions.rename, user_id, body.name))
        return json_response({"name": name}, token=token, secure=dispatcher.options.secure)

    _ = games, session, rename


def _add_table_routes(router: APIRouter, dispatcher: Dispatcher) -> None:
    @router.get("/tables")
    async def tables(request: Request) -> JSONResponse:
        """The open tables of the user."""
        user_id = await dispatcher.find_user(request)
        rows = [] if user_id is None else await dispatcher.run(partial(dispatcher.store.open_tables, user_id))
        return json_response({"tables": [listing_message(row, dispatcher.store.agents) for row in rows]})

    @router.post("/tables", status_code=201, response_model=TableResponse)
    async def open_table(request: Request, body: TableRequest) -> JSONResponse:
        """Open a table."""
        work = _table_opener(dispatcher, body)
        user_id, token = await dispatcher.find_or_create_user(request)
        live = await dispatcher.run(partial(work, user_id))
        message = await dispatcher.run(partial(table_message, live, dispatcher.store.agents))
        _compute_par_later(dispatcher, live)
        return json_response(message, 201, token, dispatcher.options.secure)

    @router.get("/tables/{table_id}", response_model=TableResponse)
    async def table(request: Request, table_id: TableId) -> JSONResponse:
        """The current state of a table."""
        user_id = await _require_user(dispatcher, request)
        async with dispatcher.lock(table_id):
            live = await dispatcher.run(partial(dispatcher.store.find, user_id, table_id))
            if live.table.is_over and dispatcher.store.needs_par(live):
                _compute_par_later(dispatcher, live)
            return json_response(await dispatcher.run(partial(table_message, live, dispatcher.store.agents)))

    @router.get("/tables/{table_id}/history")
    async def history(request: Request, table_id: TableId) -> JSONResponse:
        """The last events of a table."""
        user_id = await _require_user(dispatcher, request)
        async with dispatcher.lock(table_id):
            live = await dispatcher.run(partial(dispatcher.store.find, user_id, table_id))
            return json_response({"events": await dispatcher.run(partial(live.table.history, MAX_EVENTS))})

    _ = tables, open_table, table, history


def _add_move_routes(router: APIRouter, dispatcher: Dispatcher) -> None:
    @router.post("/tables/{table_id}/moves", response_model=TableResponse)
    async def move(request: Request, table_id: TableId, body: MoveRequest) -> JSONResponse:
        """Play an action. The response includes the moves of the agents."""

        def play(live: LiveTable) -> None:
            dispatcher.store.play_move(live, body.action, body.number)

        return await _change_table(dispatcher, request, table_id, play)

    @router.post("/tables/{table_id}/resignation", response_model=TableResponse)
    async def resign(request: Request, table_id: TableId, body: ResignRequest) -> JSONResponse:
        """Resign the game."""

        def apply(live: LiveTable) -> None:
            dispatcher.store.resign(live, body.number)

        return await _change_table(dispatcher, request, table_id, apply, to_resign=True)

    _ = move, resign


def _add_advice_routes(router: APIRouter, dispatcher: Dispatcher, advice_service: AdviceService) -> None:
    async def live_table_for(request: Request, table_id: str) -> LiveTable:
        user_id = await _require_user(dispatcher, request)
        async with dispatcher.lock(table_id):
            return await dispatcher.run(partial(dispatcher.store.find, user_id, table_id))

    @router.get("/tables/{table_id}/advice")
    async def advise(
        request: Request, table_id: TableId, agent: AgentQuery = None, search: SearchQuery = None
    ) -> JSONResponse:
        """What an agent would play in the player's seat."""
        live = await live_table_for(request, table_id)
        async with dispatcher.lock(table_id):
            return json_response(await dispatcher.run(lambda: advice_service.advise(live, agent, search), slow=True))

    @router.get("/tables/{table_id}/replay")
    async def replay(request: Request, table_id: TableId, agent: AgentQuery = None) -> JSONResponse:
        """A finished game with an agent's review of the player's moves."""
        live = await live_table_for(request, table_id)
        return json_response(await dispatcher.run(lambda: advice_service.review(live, agent), slow=True))

    _ = advise, replay


def _compute_par_later(dispatcher: Dispatcher, live: LiveTable) -> None:
    dispatcher.run_in_background(f"par of table {live.row.id}", partial(dispatcher.store.compute_par, live))


async def _change_table(
    dispatcher: Dispatcher,
    request: Request,
    table_id: str,
    change: Callable[[LiveTable], None],
    *,
    to_resign: bool = False,
) -> JSONResponse:
    """Apply `change` in a thread that fits the agents' speed. Returns the table after it."""
    user_id = await _require_user(dispatcher, request)
    async with dispatcher.lock(table_id):
        live = await dispatcher.run(partial(dispatcher.store.find, user_id, table_id, to_resign=to_resign))

        def work() -> dict[str, Any]:
            change(live)
            return table_message(live, dispatcher.store.agents)

        slow = any(map(dispatcher.store.agents.is_slow, live.opponents))
        return json_response(await dispatcher.run(work, slow=slow))


async def _require_user(dispatcher: Dispatcher, request: Request) -> int:
    """The user id of the request. Raises NotFound without one, since tables belong to users."""
    user_id = await dispatcher.find_user(request)
    if user_id is None:
        raise NotFound("there is no such table")
    return user_id


def _table_opener(dispatcher: Dispatcher, body: TableRequest) -> Any:
    """A function (user id) -> LiveTable that opens the requested table."""
    store = dispatcher.store
    if body.deal is not None:
        for key in ("options", "seat", "opponents", "par"):
            if getattr(body, key) is not None:
                raise InvalidValue(f"{key}: must be left out with a deal: the deal sets it", key)
        if body.deal == "daily":
            return partial(store.open_daily, game=body.game)
        return partial(store.open_shared, deal_id=body.deal, game=body.game)
    game_request = GameRequest(
        body.game,
        dict(body.options or {}),
        body.seat or 0,
        None if body.opponents is None else tuple(map(_agent_choice, body.opponents)),
        None if body.par is None else _agent_choice(body.par),
    )
    return partial(store.open_fresh, game_request=game_request)


def _agent_choice(message: AgentRequest) -> AgentChoice:
    return AgentChoice(message.agent, message.search)
