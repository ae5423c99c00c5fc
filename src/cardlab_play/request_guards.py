"""What stands before every request: headers, size, origin, host and rate."""

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
class Guards:
    """The one middleware; what it refuses never reaches a table."""

    app: ASGIApp
    options: PlayOptions

    def __post_init__(self) -> None:
        limits = self.options.limits
        self._limiter = FixedWindowRateLimiter(MemoryStorage())
        self._per_session = RateLimitItemPerSecond(limits.session_rate)
        self._per_address = RateLimitItemPerSecond(limits.address_rate)
        self._hosts = allowed_hosts(self.options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on with headers added and the body bounded."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sending = _with_headers(send, private=str(scope["path"]).startswith("/api"))
        refusal = self._refusal(scope, Headers(scope=scope))
        if refusal is not None:
            await refusal(scope, receive, sending)
            return
        try:
            body = await self._body(scope, receive)
        except _TooLarge:
            await _problem(413, f"the body is larger than {self.options.limits.body_bytes} bytes")(
                scope, receive, sending
            )
            return
        started = False

        async def noting(message: Message) -> None:
            nonlocal started
            started = True
            await sending(message)

        try:
            await self.app(scope, body, noting)
        except Exception:
            _log.exception("%s %s failed", scope["method"], scope["path"])
            if started:
                raise
            told = _problem(500, "the server made a mistake; the table is as it was before")
            await told(scope, receive, sending)

    def _refusal(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        if self._hosts is not None and _host_name(headers.get("host", "")) not in self._hosts:
            return _problem(403, "this server goes by another name (play.hosts)")
        if not str(scope["path"]).startswith("/api"):
            return None
        client = scope.get("client")
        if not self._limiter.hit(self._per_address, "address", str(client[0]) if client else ""):
            return _problem(429, "too many requests from your address", wait=1)
        token = _cookie(headers)
        if token and not self._limiter.hit(self._per_session, "session", token):
            return _problem(429, "too many requests", wait=1)
        return None if scope["method"] in _SAFE else _refused_change(headers)

    async def _body(self, scope: Scope, receive: Receive) -> Receive:
        """The body, read whole; _TooLarge as soon as it is."""
        if scope["method"] in _SAFE:
            return receive
        most = self.options.limits.body_bytes
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isdigit() or int(length) > most:
            raise _TooLarge
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return receive  # the client has gone
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > most:
                raise _TooLarge
            if not message.get("more_body", False):
                return _replayed(b"".join(parts), receive)


class _TooLarge(Exception):
    pass


def allowed_hosts(options: PlayOptions) -> Collection[str] | None:
    """Names by which a browser may call the server, None for any.

    On loopback only its own names are let in, so that no page elsewhere can reach it by a name that resolves to here.
    """
    if options.hosts:
        return {*map(str.lower, options.hosts), *LOOPBACK}
    return LOOPBACK if options.host in LOOPBACK else None


def _refused_change(headers: Headers) -> JSONResponse | None:
    """A change must come from this server's own page, and as JSON, which no form of another page can send."""
    if (origin := headers.get("origin")) is not None and _site(origin) != headers.get("host"):
        return _problem(403, "requests from other sites are refused")
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return _problem(403, "requests from other sites are refused")
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return _problem(415, "the body must be application/json")
    return None


def _site(origin: str) -> str:
    """The host and port of an Origin header; empty where it is malformed."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _with_headers(send: Send, private: bool) -> Send:
    extra = {**HEADERS, "cache-control": "no-store"} if private else {**HEADERS, "cache-control": "no-cache"}
    lines = [(name.encode(), value.encode()) for name, value in extra.items()]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *lines]
        await send(message)

    return sending


def _replayed(body: bytes, receive: Receive) -> Receive:
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _problem(status: int, error: str, wait: int | None = None) -> JSONResponse:
    headers: dict[str, Any] = {} if wait is None else {"Retry-After": str(wait)}
    return JSONResponse({"error": error, "key": None}, status, headers)


def _host_name(host: str) -> str:
    """A Host header without its port, in lower case."""
    return (host[1 : host.find("]")] if host.startswith("[") else host.partition(":")[0]).lower()


def _cookie(headers: Headers) -> str | None:
    """The session's token, cut off where it is longer than one can be."""
    for part in headers.get("cookie", "").split(";"):
        name, _, value = part.strip().partition("=")
        if name == COOKIE:
            return value[:64]
    return None
