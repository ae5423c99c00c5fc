"""Errors of requests and their HTTP responses."""

from starlette.responses import JSONResponse


class RequestError(Exception):
    """A request fails with an HTTP `status` and a one-line message. `key` names the invalid part."""

    def __init__(self, status: int, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.key = key


class AgentUnloadable(RequestError):
    """An offered agent fails to load."""

    def __init__(self, key: str, agent: str, reason: str) -> None:
        super().__init__(422, f"{key}={agent}: fails to load ({reason}); choose another agent", key)


def error_response(status: int, error: str, key: str | None = None, retry_seconds: int = 60) -> JSONResponse:
    """The JSON response of a failed request, with Retry-After for limits (429, 503)."""
    headers = {"Retry-After": str(retry_seconds)} if status in (429, 503) else None
    return JSONResponse({"error": error, "key": key}, status, headers)


def one_line(error: BaseException) -> str:
    """The message of `error` on one line, without the traceback."""
    return " ".join(str(error).split())[:300] or type(error).__name__
