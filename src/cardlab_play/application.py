"""The ASGI application: API routes, static page, error handlers and background tasks."""

import contextlib
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.responses import HTMLResponse, Response

from cardlab.core.options import InvalidOption
from cardlab_play.dispatcher import Dispatcher, close_idle_tables_forever
from cardlab_play.errors import RequestError, error_response
from cardlab_play.options import MAX_BODY_BYTES
from cardlab_play.request_guards import GuardMiddleware
from cardlab_play.routes import router
from cardlab_play.warmup import WarmUp

PAGE_FOLDER = Path(__file__).parent / "page"


def make_application(dispatcher: Dispatcher) -> GuardMiddleware:
    """The application of a dispatcher."""
    application = FastAPI(
        title="cardlab play",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=partial(_lifespan, dispatcher),
        exception_handlers={
            RequestError: _handle_request_error,
            InvalidOption: _handle_request_error,
            RequestValidationError: _handle_validation_error,
            HTTPException: _handle_http_exception,
            Exception: _handle_bug,
        },
    )
    application.state.dispatcher = dispatcher
    application.include_router(router)
    application.mount("/", StaticFiles(directory=PAGE_FOLDER, html=True, check_dir=False))
    application.add_middleware(RequestBodyLimitMiddleware, max_body_size=MAX_BODY_BYTES)
    return GuardMiddleware(application, dispatcher.options)


@contextlib.asynccontextmanager
async def _lifespan(dispatcher: Dispatcher, _: FastAPI) -> AsyncGenerator[None]:
    """Run the warm-up and the closing of idle tables while the server runs."""
    anyio.to_thread.current_default_thread_limiter().total_tokens = dispatcher.options.threads
    warm_up = WarmUp(dispatcher.store.agents, dispatcher.belief_networks, dispatcher.idle_seconds)
    if dispatcher.options.warm:
        warm_up.start()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(close_idle_tables_forever, dispatcher)
        yield
        tasks.cancel_scope.cancel()
    warm_up.stop()
    dispatcher.background.shutdown(wait=False, cancel_futures=True)


async def _handle_request_error(_: Request, error: Any) -> Response:
    return error_response(getattr(error, "status", 422), str(error), error.key)


async def _handle_validation_error(_: Request, error: Any) -> Response:
    """Report the first validation error."""
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path")) or None
    if first["type"] == "json_invalid":
        return error_response(422, "body: must be JSON")
    return error_response(422, f"{key or 'body'}: {first['msg'][:1].lower()}{first['msg'][1:]}"[:300], key)


async def _handle_http_exception(request: Request, error: Any) -> Response:
    wants_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")
    if error.status_code == 404 and wants_page:
        return HTMLResponse((PAGE_FOLDER / "not_found.html").read_text("utf-8"), 404)
    texts = {
        404: "no such address",
        405: "this address does not accept the method",
        413: f"the body is larger than {MAX_BODY_BYTES} bytes",
    }
    return error_response(error.status_code, texts.get(error.status_code, str(error.detail)))


async def _handle_bug(_request: Request, _error: Any) -> Response:
    return error_response(500, "internal server error; the table is unchanged")
