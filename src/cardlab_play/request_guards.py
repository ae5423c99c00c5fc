"""Middleware that checks host, origin, body size and rate of each request and adds security headers."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cardlab_play.options import PlayOptions
from cardlab_play.sessions import COOKIE

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_log = logging.getLogger(__name__)
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass
class GuardMiddleware:
    """ASGI middleware. Rejected requests never reach a route."""

    app: ASGIApp
    options: PlayOptions

    def __post_init__(self) -> None:
        limits = self.options.limits
        self._limiter = FixedWindowRateLimiter(MemoryStorage())
        self._per_session = RateLimitItemPerSecond(limits.session_rate)
        self._per_address = RateLimitItemPerSecond(limits.address_rate)
        self._hosts = allowed_hosts(self.options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject the request, or pass it on with a bounded body and security headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send_with_headers = _with_headers(send, private=str(scope["path"]).startswith("/api"))
        refusal = self._rejection(scope, Headers(scope=scope))
        if refusal is not None:
            await refusal(scope, receive, send_with_headers)
            return
        try:
            body = await self._body(scope, receive)
        except _TooLarge:
            await _error_response(413, f"the body is larger than {self.options.limits.body_bytes} bytes")(
                scope, receive, send_with_headers
            )
            return
        started = False

        async def send_and_note(message: Message) -> None:
            nonlocal started
            started = True
            await send_with_headers(message)

        try:
            await self.app(scope, body, send_and_note)
        except Exception:
            _log.exception("%s %s failed", scope["method"], scope["path"])
            if started:
                raise
            response = _error_response(500, "internal server error; the table is unchanged")
            await response(scope, receive, send_with_headers)

    def _rejection(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        if self._hosts is not None and _host_name(headers.get("host", "")) not in self._hosts:
            return _error_response(403, "host name not accepted (play.hosts lists the accepted names)")
        if not str(scope["path"]).startswith("/api"):
            return None
        client = scope.get("client")
        if not self._limiter.hit(self._per_address, "address", str(client[0]) if client else ""):
            return _error_response(429, "too many requests from your address", wait=1)
        token = _cookie(headers)
        if token and not self._limiter.hit(self._per_session, "session", token):
            return _error_response(429, "too many requests", wait=1)
        return None if scope["method"] in _SAFE else _reject_unsafe_request(headers)

    async def _body(self, scope: Scope, receive: Receive) -> Receive:
        """Read the whole body. Raises _TooLarge beyond the limit."""
        if scope["method"] in _SAFE:
            return receive
        limit = self.options.limits.body_bytes
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isdigit() or int(length) > limit:
            raise _TooLarge
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return receive  # the client has disconnected
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > limit:
                raise _TooLarge
            if not message.get("more_body", False):
                return _receive_body(b"".join(parts), receive)


class _TooLarge(Exception):
    pass


def allowed_hosts(options: PlayOptions) -> Collection[str] | None:
    """Accepted Host names, None for any.

    On loopback only loopback names are accepted: this prevents DNS rebinding.
    """
    if options.hosts:
        return {*map(str.lower, options.hosts), *LOOPBACK}
    return LOOPBACK if options.host in LOOPBACK else None


def _reject_unsafe_request(headers: Headers) -> JSONResponse | None:
    """Accept changes from this server's page only, and as JSON, which cross-site forms cannot send."""
    if (origin := headers.get("origin")) is not None and _site(origin) != headers.get("host"):
        return _error_response(403, "requests from other sites are not accepted")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return _error_response(403, "requests from other sites are not accepted")
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return _error_response(415, "the content type must be application/json")
    return None


def _site(origin: str) -> str:
    """Host and port of an Origin header, empty if it is malformed."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _with_headers(send: Send, private: bool) -> Send:
    extra = {**HEADERS, "cache-control": "no-store"} if private else {**HEADERS, "cache-control": "no-cache"}
    lines = [(name.encode(), value.encode()) for name, value in extra.items()]

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *lines]
        await send(message)

    return send_with_headers


def _receive_body(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _error_response(status: int, error: str, wait: int | None = None) -> JSONResponse:
    headers: dict[str, Any] = {} if wait is None else {"Retry-After": str(wait)}
    return JSONResponse({"error": error, "key": None}, status, headers)


def _host_name(host: str) -> str:
    """A Host header in lower case, without the port."""
    return (host[1 : host.find("]")] if host.startswith("[") else host.partition(":")[0]).lower()


def _cookie(headers: Headers) -> str | None:
    """The session token, truncated to 64 characters."""
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value[:64]
    return None
