"""Requests: the models of their bodies, and middleware that checks host, origin, size and rate."""

import json
import logging
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Annotated, Any
from urllib.parse import urlsplit

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cardlab.core.sockets import is_loopback
from cardlab_play.agent_catalog import AgentChoice
from cardlab_play.errors import error_response
from cardlab_play.options import MAX_BODY_BYTES, PlayOptions

Name = Annotated[StrictStr, Field(min_length=1, max_length=64)]
ActionCount = Annotated[StrictInt, Field(ge=0, le=1_000_000)]


class RequestModel(BaseModel):
    """Base of request bodies: no extra keys."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def refuse_half_characters(cls, data: Any) -> Any:
        """Refuse a lone surrogate, which JSON can write and UTF-8 cannot, in any text."""
        try:
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ValueError("a text has half of a character") from error
        return data


class TableRequest(RequestModel):
    """A table to open. The server chooses what is None. `deal`: null, `daily` or the id of a deal.

    `practice`: with advice and undo; the result does not count. For fresh deals only.
    """

    game: Name
    options: Annotated[dict[Name, StrictInt | Name], Field(max_length=16)] | None = None
    seat: Annotated[StrictInt, Field(ge=0, le=8)] | None = None
    opponents: Annotated[list[AgentChoice], Field(max_length=8)] | None = None
    par: AgentChoice | None = None
    deal: Name | None = None
    practice: StrictBool = False


class NumberRequest(RequestModel):
    """A resignation, or a move to take back. `number`: actions of all players before it."""

    number: ActionCount


class MoveRequest(NumberRequest):
    """An action of the player. `number`: actions of all players before it."""

    action: Annotated[StrictInt, Field(ge=0, le=32_767)]


class RenameRequest(RequestModel):
    """A new user name."""

    name: Annotated[StrictStr, Field(max_length=200)]


class ErrorResponse(BaseModel):
    """Why a request failed: one sentence, and the invalid key if there is one."""

    error: str
    key: str | None


class TableResponse(BaseModel):
    """A table as the player sees it. `view`, `legal` and `events` depend on the game (docs/play_api.md)."""

    id: str
    game: str
    title: str
    options: dict[str, Any]
    seat: int
    seats: list[dict[str, Any]]
    number: int
    status: str
    view: dict[str, Any]
    legal: list[dict[str, Any]]
    events: list[dict[str, Any]]
    deal: dict[str, Any]
    result: dict[str, Any] | None


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
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:]+))(?::\d{1,5})?")
_log = logging.getLogger(__name__)
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass
class GuardMiddleware:
    """ASGI middleware around the application. Rejected requests never reach a route."""

    app: ASGIApp
    options: PlayOptions

    def __post_init__(self) -> None:
        self._limiter = FixedWindowRateLimiter(MemoryStorage())
        self._per_address = RateLimitItemPerSecond(self.options.limits.address_rate)
        self._hosts = allowed_hosts(self.options)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Reject the request, or pass it on. Both responses have the security headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        respond = self._rejection(HTTPConnection(scope)) or self.app
        try:
            await respond(scope, receive, _with_headers(send, private=_is_api(scope)))
        except Exception:  # Starlette has sent the response; uvicorn would also close the connection
            _log.exception("%s %s failed", scope["method"], scope["path"])

    def _rejection(self, request: HTTPConnection) -> JSONResponse | None:
        if _host_name(request.headers.get("host", "")) not in self._hosts:
            return error_response(403, "host name not accepted (play.hosts lists the accepted names)")
        if not _is_api(request.scope):
            return None
        if not self._limiter.hit(self._per_address, "address", client_address(request)):
            return error_response(429, "too many requests from your address", retry_seconds=1)
        return None if request.scope["method"] in _SAFE else self._reject_unsafe_request(request.headers)

    def _reject_unsafe_request(self, headers: Headers) -> JSONResponse | None:
        """Accept changes from this server's page only, and as JSON, which cross-site forms cannot send."""
        origin = headers.get("origin")
        from_other_site = origin is not None and _site(origin) != headers.get("host")
        if from_other_site or headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return error_response(403, "requests from other sites are not accepted")
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return error_response(415, "the content type must be application/json")
        length = headers.get("content-length", "0")  # bodies without it are limited while they arrive
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            return error_response(413, f"the body is larger than {MAX_BODY_BYTES} bytes")
        return None


def allowed_hosts(options: PlayOptions) -> Collection[str]:
    """Accepted Host names. Others are rejected: this prevents DNS rebinding."""
    own = {options.host} if is_loopback(options.host) else set[str]()
    return {*map(str.lower, options.hosts), *LOOPBACK, *own}


def client_address(request: HTTPConnection) -> str:
    """The client's address; for IPv6 its network of 64 bits, all of which one client may use."""
    host = request.client.host if request.client else ""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host[:64]
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((address, 64), strict=False))
    return str(address)


def _is_api(scope: Scope) -> bool:
    return str(scope["path"]).startswith("/api")


def _site(origin: str) -> str:
    """Host and port of an Origin header, empty if it is malformed."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


def _with_headers(send: Send, private: bool) -> Send:
    extra = {**HEADERS, "cache-control": "no-store" if private else "no-cache"}
    lines = [(name.encode(), value.encode()) for name, value in extra.items()]

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *lines]
        await send(message)

    return send_with_headers


def _host_name(host: str) -> str:
    """A Host header in lower case, without the port; empty for a malformed one."""
    found = _HOST.fullmatch(host.lower())
    return "" if found is None else found[1] or found[2]
