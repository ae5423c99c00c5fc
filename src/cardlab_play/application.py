"""The FastAPI application: API routes, static page, error handlers and background tasks."""

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
from cardlab_play.advice_service import AdviceService
from cardlab_play.dispatcher import Dispatcher
from cardlab_play.errors import RequestError, one_line
from cardlab_play.idle_tables import close_idle_tables
from cardlab_play.request_guards import GuardMiddleware
from cardlab_play.routes import make_router
from cardlab_play.table import IllegalMove
from cardlab_play.warmup import WarmUp

PAGE_FOLDER = Path(__file__).parent / "page"
IDLE_CHECK_SECONDS = 300.0

_NO_PAGE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Page not found · cardlab</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="/styles/base.css">
    <link rel="stylesheet" href="/styles/start.css">
  </head>
  <body>
    <main><div class="box narrow"><h1>Page not found</h1><p><a href="/">Back to the start page</a></p></div></main>
  </body>
</html>
"""

_log = logging.getLogger(__name__)


def make_application(dispatcher: Dispatcher) -> FastAPI:
    """The application of a dispatcher."""
    advice_service = AdviceService(dispatcher.store, dispatcher.belief_networks)
    application = FastAPI(
        title="cardlab play",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=partial(_lifespan, dispatcher),
    )
    application.include_router(make_router(dispatcher, advice_service))
    application.mount("/", StaticFiles(directory=PAGE_FOLDER, html=True, check_dir=False))
    application.add_middleware(GuardMiddleware, options=dispatcher.options)
    for error, handler in _ERROR_HANDLERS.items():
        application.add_exception_handler(error, handler)
    return application


@contextlib.asynccontextmanager
async def _lifespan(dispatcher: Dispatcher, _: FastAPI) -> AsyncGenerator[None]:
    """Run the warm-up and the closing of idle tables while the server runs."""
    warm_up = WarmUp(dispatcher.store.agents, dispatcher.belief_networks, dispatcher.idle_seconds)
    if dispatcher.options.warm:
        warm_up.start()
    task = asyncio.create_task(_close_idle_tables_forever(dispatcher))
    try:
        yield
    finally:
        warm_up.stop()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _close_idle_tables_forever(dispatcher: Dispatcher) -> None:
    while True:
        try:
            await close_idle_tables(dispatcher)
        except Exception as error:
            _log.warning("closing idle tables failed: %s", one_line(error))
        await asyncio.sleep(IDLE_CHECK_SECONDS)


def _error_response(status: int, error: str, key: str | None = None) -> Response:
    headers = {"Retry-After": "60"} if status in (429, 503) else None
    return JSONResponse({"error": error, "key": key}, status, headers)


async def _handle_request_error(_: Request, error: Any) -> Response:
    return _error_response(error.status, str(error), error.key)


async def _handle_invalid_option(_: Request, error: Any) -> Response:
    return _error_response(422, str(error), error.key)


async def _handle_illegal_move(_: Request, error: Any) -> Response:
    return _error_response(422, str(error), "action")


async def _handle_validation_error(_: Request, error: Any) -> Response:
    """Report the first validation error."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path")) or None
    return _error_response(422, f"{key or 'body'}: {first['msg'][:1].lower()}{first['msg'][1:]}"[:300], key)


async def _handle_http_exception(request: Request, error: Any) -> Response:
    wants_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")
    if error.status_code == 404 and wants_page:
        return HTMLResponse(_NO_PAGE, 404)
    texts = {404: "no such address", 405: "this address does not accept the method"}
    return _error_response(error.status_code, texts.get(error.status_code, str(error.detail)))


_ERROR_HANDLERS: dict[type[Exception], Callable[[Request, Any], Awaitable[Response]]] = {
    RequestError: _handle_request_error,
    InvalidOption: _handle_invalid_option,
    IllegalMove: _handle_illegal_move,
    RequestValidationError: _handle_validation_error,
    HTTPException: _handle_http_exception,
}
