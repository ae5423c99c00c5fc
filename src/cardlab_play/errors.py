"""Errors of requests, each with its HTTP status and a one-line message."""


class RequestError(Exception):
    """A request fails. `key` names the invalid part."""

    status = 422

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


class NotFound(RequestError):
    """The table or deal does not exist, or belongs to another user."""

    status = 404


class Conflict(RequestError):
    """The state of the table does not allow the request."""

    status = 409


class TooManyTables(RequestError):
    """The user has too many open tables."""

    status = 429


class ServerFull(RequestError):
    """The server has too many open tables."""

    status = 503


class AgentFailed(RequestError):
    """An agent raised an exception at its move. The table is unchanged."""

    status = 500


class AgentUnloadable(RequestError):
    """An offered agent fails to load."""

    @classmethod
    def of(cls, key: str, agent: str, reason: str) -> "AgentUnloadable":
        """The error for `key=agent`."""
        return cls(f"{key}={agent}: fails to load ({reason}); choose another agent", key)


class InvalidValue(RequestError):
    """A value is not accepted."""

    @classmethod
    def of(cls, key: str, value: object, allowed: str) -> "InvalidValue":
        """The error for `key=value`, in the format of the command line."""
        return cls(f"{key}={value}: must be {allowed}", key)


def one_line(error: BaseException) -> str:
    """The message of `error` on one line, without the traceback."""
    return " ".join(str(error).split())[:300] or type(error).__name__
