"""The server: the ASGI application, its background tasks, and uvicorn on one port with limits that it lacks."""

import asyncio
import contextlib
import logging
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from functools import partial
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import h11
import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.responses import HTMLResponse, Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from cardlab.core.messages import InvalidOption
from cardlab.core.sockets import open_listener, url_host
from cardlab_play.dispatcher import Dispatcher, close_idle_tables_forever, make_dispatcher
from cardlab_play.errors import RequestError, error_response
from cardlab_play.options import MAX_BODY_BYTES, PlayOptions
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
    warm_up = WarmUp(dispatcher.store.agents, dispatcher.idle_seconds)
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


REQUEST_SECONDS = 10.0  # from the first byte of a request to its last


def make_protocol(options: PlayOptions) -> type[asyncio.Protocol]:
    """Uvicorn's HTTP/1.1 protocol with limits. A connection beyond them is closed without a response."""
    proxies = [ip_network(proxy) for proxy in options.proxies]

    class LimitedProtocol(H11Protocol):
        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
            super().connection_made(transport)
            if self._is_one_too_many():
                transport.close()
            else:
                self._timer = self.loop.call_later(REQUEST_SECONDS, transport.close)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):  # the request is complete
                self._stop_timer()
            elif self._timer is None:
                self._timer = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def _is_one_too_many(self) -> bool:
            host = self.client[0] if self.client else ""
            if any(ip_address(host) in proxy for proxy in proxies):
                return False
            hosts = [one.client[0] for one in self.connections if isinstance(one, H11Protocol) and one.client]
            return hosts.count(host) > options.limits.connections_per_address

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

    return LimitedProtocol


_SHUTDOWN_SECONDS = 10
_KEEP_ALIVE_SECONDS = 20  # an idle connection takes one of its address's places


class _Server(uvicorn.Server):
    """Stops on SIGHUP as on SIGTERM. Ignored signals stay ignored: SIGHUP under nohup, SIGINT after `&` in a script."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
        in_main_thread = threading.current_thread() is threading.main_thread()
        before = {number: signal.getsignal(number) for number in numbers} if in_main_thread else {}
        with super().capture_signals(), contextlib.ExitStack() as handlers:
            for number, handler in before.items():
                signal.signal(number, signal.SIG_IGN if handler == signal.SIG_IGN else self.handle_exit)
                handlers.callback(signal.signal, number, handler)
            yield


def serve(options: PlayOptions, report: Callable[[str], None] = print) -> int:
    """Report the address and serve until Ctrl-C, SIGTERM or SIGHUP. Raises InvalidOption for a used port."""
    import torch  # noqa: PLC0415 - slow import

    server_socket = open_listener(options.host, options.port, "play.")  # first, so that a used port fails at once
    torch.set_num_threads(1)  # requests run in parallel threads, and networks are small
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    config = make_config(make_dispatcher(options))
    report(
        f"cardlab play on http://{url_host(options.host)}:{server_socket.getsockname()[1]} (Ctrl-C stops the server)"
    )
    with contextlib.suppress(KeyboardInterrupt):
        _Server(config).run(sockets=[server_socket])
    return 0


def make_config(dispatcher: Dispatcher, port: int = 0) -> uvicorn.Config:
    """Uvicorn's settings for a dispatcher. `port` is unused by a server that is given a socket."""
    options = dispatcher.options
    return uvicorn.Config(
        make_application(dispatcher),
        port=port,
        http=make_protocol(options),
        ws="none",
        log_level="warning",
        access_log=False,
        proxy_headers=bool(options.proxies),
        forwarded_allow_ips=list(options.proxies),
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        limit_concurrency=1000,
        h11_max_incomplete_event_size=16_384,
    )
