"""The addresses of results: leaderboards, the day's deals, and deals that are shared."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import JSONResponse

from cardlab.core.options import check_choice
from cardlab_play.database import OPEN, DealRow, now
from cardlab_play.dispatcher import Desk, answer
from cardlab_play.errors import NotFound
from cardlab_play.leaderboards import deal_message, leaderboard, own_game
from cardlab_play.serializers import seats_message
from cardlab_play.settings import SETTINGS

DealId = Annotated[str, Path(min_length=1, max_length=64)]
GameQuery = Annotated[str, Query(max_length=64)]


def add_standings(router: APIRouter, desk: Desk) -> None:
    """Add them to `router`."""

    @router.get("/leaderboard")
    async def board(request: Request, game: GameQuery) -> JSONResponse:
        """People against agents at one game."""
        check_choice("game", game, list(SETTINGS))
        person = await desk.person(request)
        return answer(await desk.run(lambda: leaderboard(desk.house.engine, desk.house.players, game, person)))

    @router.get("/daily")
    async def daily(request: Request) -> JSONResponse:
        """The deals of today."""
        person = await desk.person(request)
        deals = await desk.run(lambda: [_daily(desk, game, person) for game in SETTINGS])
        return answer({"date": now().date().isoformat(), "deals": deals})

    @router.get("/deals/{deal_id}")
    async def deal(request: Request, deal_id: DealId) -> JSONResponse:
        """A deal and, for who has finished it, how others did."""
        person = await desk.person(request)
        return answer(await desk.run(lambda: _deal(desk, deal_id, person)))

    _ = board, daily, deal


def _daily(desk: Desk, game: str, person: int | None) -> dict[str, Any]:
    house = desk.house
    with Session(house.engine, expire_on_commit=False) as session:
        row = house.dealer.today(session, game)
        session.commit()
    own = own_game(house.engine, row.id, person)
    return {
        "game": game,
        "title": SETTINGS[game].title,
        "deal": row.id,
        "seats": seats_message(row, house.players),
        "table": None if own is None else own.id,
        "finished": own is not None and own.status != OPEN,
    }


def _deal(desk: Desk, deal_id: str, person: int | None) -> dict[str, Any]:
    house = desk.house
    with Session(house.engine) as session:
        row = session.get(DealRow, deal_id)
    if row is None:
        raise NotFound("there is no deal with this id")
    return {
        "id": row.id,
        "kind": row.kind,
        "game": row.game,
        "title": SETTINGS[row.game].title,
        "options": row.options,
        "seat": row.seat,
        "seats": seats_message(row, house.players),
        "date": row.date,
        **deal_message(house.engine, house.players, row, person),
    }
