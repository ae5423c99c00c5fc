"""What the server refuses, each with its status and one sentence for a person."""


class Refusal(Exception):
    """A request that cannot be done; `key` names what is wrong in it."""

    status = 422

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


class NotFound(Refusal):
    """There is no such table or deal, or it is another person's."""

    status = 404


class Conflict(Refusal):
    """It is not the time for that."""

    status = 409


class TooMany(Refusal):
    """The session has too much open."""

    status = 429


class Full(Refusal):
    """The server has."""

    status = 503


class Stuck(Refusal):
    """An agent that failed at its move; the table is as it was before."""

    status = 500


class Unloadable(Refusal):
    """An agent that is listed, but cannot be loaded."""

    @classmethod
    def of(cls, key: str, agent: str, reason: str) -> "Unloadable":
        """In the words of the command line; `reason` as it was said where loading failed."""
        return cls(f"{key}={agent}: cannot be loaded ({reason})", key)


class WrongValue(Refusal):
    """A value that the key cannot take."""

    @classmethod
    def of(cls, key: str, value: object, allowed: str) -> "WrongValue":
        """In the words of the command line."""
        return cls(f"{key}={value}: must be {allowed}", key)


def one_line(error: BaseException) -> str:
    """What is said of `error` in the log, or to a person: its message without its trace."""
    return " ".join(str(error).split())[:300] or type(error).__name__
