"""The web application: the API over the house, and the page beside it."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from cardlab.core.options import InvalidOption
from cardlab_play.advice_service import Consulting
from cardlab_play.beliefs import Beliefs
from cardlab_play.dispatcher import Desk
from cardlab_play.errors import Refusal, one_line
from cardlab_play.idle_tables import close_idle_tables
from cardlab_play.request_guards import Guards
from cardlab_play.routes import make_router
from cardlab_play.table import IllegalMove
from cardlab_play.warmup import Warming

PAGE = Path(__file__).parent / "page"
HOUSEKEEPING_SECONDS = 300.0

_NO_PAGE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>No such page · cardlab</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="/styles/base.css">
    <link rel="stylesheet" href="/styles/start.css">
  </head>
  <body>
    <main><div class="box narrow"><h1>There is no such page</h1><p><a href="/">To the start</a></p></div></main>
  </body>
</html>
"""

_log = logging.getLogger(__name__)


def make_application(desk: Desk) -> FastAPI:
    """The application over `desk`."""
    consulting = Consulting(desk.house, desk.beliefs)
    application = FastAPI(
        title="cardlab play",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=partial(_live, desk, consulting.beliefs),
    )
    application.include_router(make_router(desk, consulting))
    application.mount("/", StaticFiles(directory=PAGE, html=True, check_dir=False))
    application.add_middleware(Guards, options=desk.options)
    for fault, told in _ANSWERS.items():
        application.add_exception_handler(fault, told)
    return application


@contextlib.asynccontextmanager
async def _live(desk: Desk, beliefs: Beliefs, _: FastAPI) -> AsyncGenerator[None]:
    """Keep house while the server runs."""
    warming = Warming(desk.house.players, beliefs, desk.quiet_seconds)
    if desk.options.warm:
        warming.start()
    task = asyncio.create_task(_keep_house(desk))
    try:
        yield
    finally:
        warming.stop()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _keep_house(desk: Desk) -> None:
    while True:
        try:
            await close_idle_tables(desk)
        except Exception as error:
            _log.warning("idle tables could not be closed: %s", one_line(error))
        await asyncio.sleep(HOUSEKEEPING_SECONDS)


def _problem(status: int, error: str, key: str | None = None) -> Response:
    headers = {"Retry-After": "60"} if status in (429, 503) else None
    return JSONResponse({"error": error, "key": key}, status, headers)


async def _refused(_: Request, fault: Any) -> Response:
    return _problem(fault.status, str(fault), fault.key)


async def _invalid(_: Request, fault: Any) -> Response:
    return _problem(422, str(fault), fault.key)


async def _illegal(_: Request, fault: Any) -> Response:
    return _problem(422, str(fault), "action")


async def _malformed(_: Request, fault: Any) -> Response:
    """The first thing that is wrong with the body."""
    first = fault.errors()[0]
    key = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path")) or None
    return _problem(422, f"{key or 'body'}: {first['msg'][:1].lower()}{first['msg'][1:]}"[:300], key)


async def _other(request: Request, fault: Any) -> Response:
    wants_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")
    if fault.status_code == 404 and wants_page:
        return HTMLResponse(_NO_PAGE, 404)
    texts = {404: "there is nothing at this address", 405: "this address does not take that method"}
    return _problem(fault.status_code, texts.get(fault.status_code, str(fault.detail)))


_ANSWERS: dict[type[Exception], Callable[[Request, Any], Awaitable[Response]]] = {
    Refusal: _refused,
    InvalidOption: _invalid,
    IllegalMove: _illegal,
    RequestValidationError: _malformed,
    HTTPException: _other,
}
