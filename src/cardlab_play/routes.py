"""API routes; docs/play_api.md has examples.

Sync routes run in the pool of `play.threads` threads, searches and advice in a pool of half as many.
"""

import time
from collections.abc import AsyncGenerator, Callable
from functools import partial
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Path, Query, Request, Response

from cardlab.core.options import check_choice
from cardlab_play.advice import advice_message, replay_message
from cardlab_play.database import GameRow, now
from cardlab_play.dispatcher import COOKIE, Dispatcher
from cardlab_play.leaderboards import daily_message, deal_message, leaderboard_message, record_message
from cardlab_play.offered_games import offered_games
from cardlab_play.request_guards import (
    ErrorResponse,
    MoveRequest,
    NumberRequest,
    RenameRequest,
    TableRequest,
    TableResponse,
    client_address,
)
from cardlab_play.serializers import games_message, listing_message, table_message
from cardlab_play.table import LiveTable
from cardlab_play.views.game_view import Json

MAX_EVENTS = 100  # of a table's history
_YEAR = 365 * 24 * 3600

ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorResponse} for status in (400, 403, 404, 405, 409, 413, 415, 422, 429, 500, 503)
}
router = APIRouter(prefix="/api", responses=ERROR_RESPONSES)

AgentQuery = Annotated[str | None, Query(max_length=200)]
SearchQuery = Annotated[str | None, Query(max_length=64)]
DealsQuery = Annotated[int | None, Query(ge=2, le=10_000)]
GameQuery = Annotated[str, Query(max_length=64)]
PathId = Annotated[str, Path(min_length=1, max_length=64)]


async def _dispatcher(request: Request) -> Dispatcher:
    return request.app.state.dispatcher


Shared = Annotated[Dispatcher, Depends(_dispatcher)]


def _find_user(request: Request, dispatcher: Shared) -> int | None:
    """The user id of the request's cookie, None without a valid one."""
    dispatcher.last_request = time.monotonic()
    return dispatcher.sessions.find(request.cookies.get(COOKIE))


UserId = Annotated[int | None, Depends(_find_user)]


def _create_user(dispatcher: Dispatcher, request: Request, response: Response) -> int:
    """A new user, whose cookie is set in `response`."""
    user_id, token = dispatcher.sessions.create(client_address(request))
    secure = dispatcher.options.secure
    response.set_cookie(COOKIE, token, max_age=_YEAR, httponly=True, samesite="strict", secure=secure)
    return user_id


def _locked_table(*, to_resign: bool) -> Callable[..., AsyncGenerator[LiveTable]]:
    """A dependency: the requested table of the user, locked until the route returns."""

    async def find(table_id: PathId, user_id: UserId, dispatcher: Shared) -> AsyncGenerator[LiveTable]:
        async with dispatcher.lock(table_id):
            work = partial(dispatcher.store.find, user_id, table_id, to_resign=to_resign)
            yield await to_thread.run_sync(work)

    return find


LockedTable = Annotated[LiveTable, Depends(_locked_table(to_resign=False), scope="function")]
ResignedTable = Annotated[LiveTable, Depends(_locked_table(to_resign=True), scope="function")]


@router.get("/games")
def games(dispatcher: Shared) -> Json:
    """The games with their options, agents and searches."""
    return {"games": games_message(dispatcher.store.agents)}


@router.get("/session")
def session(dispatcher: Shared, user_id: UserId) -> Json:
    """The user name of the session."""
    return {"name": dispatcher.sessions.name(user_id)}


@router.put("/session")
def rename(body: RenameRequest, request: Request, response: Response, dispatcher: Shared, user_id: UserId) -> Json:
    """Set the user name of the session."""
    user_id = user_id or _create_user(dispatcher, request, response)
    return {"name": dispatcher.sessions.rename(user_id, body.name)}


@router.get("/tables")
def tables(dispatcher: Shared, user_id: UserId) -> Json:
    """The open tables of the user."""
    store = dispatcher.store
    return {"tables": [listing_message(row, store.agents) for row in store.open_tables(user_id)]}


@router.post("/tables", status_code=201, response_model=TableResponse)
def open_table(body: TableRequest, request: Request, response: Response, dispatcher: Shared, user_id: UserId) -> Json:
    """Open a table."""
    user_id = user_id or _create_user(dispatcher, request, response)
    live = dispatcher.store.open(user_id, body, client_address(request))
    _compute_par_later(dispatcher, live)
    return table_message(live, dispatcher.store.agents)


@router.get("/tables/{table_id}", response_model=TableResponse)
def table(live: LockedTable, dispatcher: Shared) -> Json:
    """The current state of a table."""
    if live.table.is_over and dispatcher.store.needs_par(live):
        _compute_par_later(dispatcher, live)
    return table_message(live, dispatcher.store.agents)


@router.get("/tables/{table_id}/history")
def history(live: LockedTable) -> Json:
    """The last events of a table."""
    return {"events": live.table.history(MAX_EVENTS)}


@router.post("/tables/{table_id}/moves", response_model=TableResponse)
async def move(body: MoveRequest, live: LockedTable, dispatcher: Shared) -> Json:
    """Play an action. The response includes the moves of the agents."""
    return await _change_table(dispatcher, live, lambda: dispatcher.store.play_move(live, body.action, body.number))


@router.post("/tables/{table_id}/resignation", response_model=TableResponse)
async def resign(body: NumberRequest, live: ResignedTable, dispatcher: Shared) -> Json:
    """Resign the game."""
    return await _change_table(dispatcher, live, lambda: dispatcher.store.resign(live, body.number))


@router.post("/tables/{table_id}/undo", response_model=TableResponse)
async def undo(body: NumberRequest, live: LockedTable, dispatcher: Shared) -> Json:
    """Take back the player's last move in a practice game."""
    return await _change_table(dispatcher, live, lambda: dispatcher.store.undo(live, body.number))


@router.get("/tables/{table_id}/advice")
async def advise(
    live: LockedTable,
    dispatcher: Shared,
    agent: AgentQuery = None,
    search: SearchQuery = None,
    deals: DealsQuery = None,
) -> Json:
    """What an agent would play in the player's seat; fewer deals than `play.advice_deals` are a quick first answer."""
    work = partial(advice_message, dispatcher.store.agents, live, agent, search, deals)
    return await to_thread.run_sync(work, limiter=dispatcher.slow_threads)


@router.get("/tables/{table_id}/replay")
async def replay(live: LockedTable, dispatcher: Shared, agent: AgentQuery = None) -> Json:
    """A finished game with an agent's review of the player's moves."""
    work = partial(replay_message, dispatcher.store.agents, live, agent)
    return await to_thread.run_sync(work, limiter=dispatcher.slow_threads)


@router.get("/leaderboard")
def leaderboard(dispatcher: Shared, user_id: UserId, game: GameQuery) -> Json:
    """The leaderboard of a game."""
    check_choice("game", game, list(offered_games()))
    return leaderboard_message(dispatcher.store.engine, dispatcher.store.agents, game, user_id)


@router.get("/rules")
def rules(game: GameQuery) -> Json:
    """The rules of a game for players."""
    check_choice("game", game, list(offered_games()))
    return {"game": game, **offered_games()[game].model_dump(include={"title", "sections"})}


@router.get("/record")
def record(dispatcher: Shared, user_id: UserId) -> Json:
    """The user's results against each agent."""
    store = dispatcher.store
    return {"rows": record_message(store.engine, store.agents, GameRow.user_id == user_id)}


@router.get("/daily")
def daily(dispatcher: Shared, user_id: UserId) -> Json:
    """Today's deals."""
    deals = [daily_message(dispatcher.store, game, user_id) for game in offered_games()]
    return {"date": now().date().isoformat(), "deals": deals}


@router.get("/deals/{deal_id}")
def deal(dispatcher: Shared, user_id: UserId, deal_id: PathId) -> Json:
    """A deal and, after the user has finished it, the results of all users."""
    return deal_message(dispatcher.store, deal_id, user_id)


async def _change_table(dispatcher: Dispatcher, live: LiveTable, change: Callable[[], None]) -> Json:
    """Run `change` in a thread that fits the agents' speed. Returns the table after it."""

    def work() -> Json:
        change()
        return table_message(live, dispatcher.store.agents)

    slow = any(map(dispatcher.store.agents.is_slow, live.opponents))
    return await to_thread.run_sync(work, limiter=dispatcher.slow_threads if slow else None)


def _compute_par_later(dispatcher: Dispatcher, live: LiveTable) -> None:
    dispatcher.run_in_background(f"par of table {live.row.id}", partial(dispatcher.store.compute_par, live))
