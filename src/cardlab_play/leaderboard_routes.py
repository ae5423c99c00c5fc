"""API routes of results: leaderboards, daily deals and shared deals."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import JSONResponse

from cardlab.core.options import check_choice
from cardlab_play.database import OPEN, DealRow, now
from cardlab_play.dispatcher import Dispatcher, json_response
from cardlab_play.errors import NotFound
from cardlab_play.leaderboards import deal_results_message, first_game, leaderboard
from cardlab_play.offered_games import OFFERED_GAMES
from cardlab_play.serializers import seats_message

DealId = Annotated[str, Path(min_length=1, max_length=64)]
GameQuery = Annotated[str, Query(max_length=64)]


def add_leaderboard_routes(router: APIRouter, dispatcher: Dispatcher) -> None:
    """Add the routes to `router`."""

    @router.get("/leaderboard")
    async def board(request: Request, game: GameQuery) -> JSONResponse:
        """The leaderboard of a game."""
        check_choice("game", game, list(OFFERED_GAMES))
        user_id = await dispatcher.find_user(request)
        return json_response(
            await dispatcher.run(lambda: leaderboard(dispatcher.store.engine, dispatcher.store.agents, game, user_id))
        )

    @router.get("/daily")
    async def daily(request: Request) -> JSONResponse:
        """Today's deals."""
        user_id = await dispatcher.find_user(request)
        deals = await dispatcher.run(lambda: [_daily(dispatcher, game, user_id) for game in OFFERED_GAMES])
        return json_response({"date": now().date().isoformat(), "deals": deals})

    @router.get("/deals/{deal_id}")
    async def deal(request: Request, deal_id: DealId) -> JSONResponse:
        """A deal and, after the user has finished it, the results of all users."""
        user_id = await dispatcher.find_user(request)
        return json_response(await dispatcher.run(lambda: _deal(dispatcher, deal_id, user_id)))

    _ = board, daily, deal


def _daily(dispatcher: Dispatcher, game: str, user_id: int | None) -> dict[str, Any]:
    store = dispatcher.store
    with Session(store.engine, expire_on_commit=False) as session:
        row = store.deal_factory.today(session, game)
        session.commit()
    game_row = first_game(store.engine, row.id, user_id)
    return {
        "game": game,
        "title": OFFERED_GAMES[game].title,
        "deal": row.id,
        "seats": seats_message(row, store.agents),
        "table": None if game_row is None else game_row.id,
        "finished": game_row is not None and game_row.status != OPEN,
    }


def _deal(dispatcher: Dispatcher, deal_id: str, user_id: int | None) -> dict[str, Any]:
    store = dispatcher.store
    with Session(store.engine) as session:
        row = session.get(DealRow, deal_id)
    if row is None:
        raise NotFound("there is no deal with this id")
    return {
        "id": row.id,
        "kind": row.kind,
        "game": row.game,
        "title": OFFERED_GAMES[row.game].title,
        "options": row.options,
        "seat": row.seat,
        "seats": seats_message(row, store.agents),
        "date": row.date,
        **deal_results_message(store.engine, store.agents, row, user_id),
    }
