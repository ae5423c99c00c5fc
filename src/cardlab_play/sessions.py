"""Sessions: cookie tokens and user names."""

import hashlib
import secrets
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from limits import RateLimitItemPerHour
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from cardlab_play.database import UserRow, now
from cardlab_play.errors import RequestError
from cardlab_play.options import Limits

COOKIE = "cardlab_session"
_TOKEN_BYTES = 32
_TOKEN_LENGTH = 43  # _TOKEN_BYTES in base64 without padding
_MAX_CACHED = 10_000
_MAX_NAME = 24  # characters


@dataclass
class SessionStore:
    """Users by their session tokens. The database stores token hashes only."""

    engine: Engine
    limits: Limits

    def __post_init__(self) -> None:
        self._limiter = FixedWindowRateLimiter(MemoryStorage())
        self._user_id = lru_cache(_MAX_CACHED)(self._query_user_id)

    def find(self, token: str | None) -> int | None:
        """The user id of `token`, None for an unknown token."""
        return None if token is None or len(token) != _TOKEN_LENGTH else self._user_id(_digest(token))

    def _query_user_id(self, digest: bytes) -> int | None:
        with Session(self.engine) as session:
            return session.scalar(select(UserRow.id).where(UserRow.token_hash == digest))

    def create(self, address: str) -> tuple[int, str]:
        """A new user: the id and the token for the cookie. Raises a 429 beyond the sessions of an hour."""
        if not self._limiter.hit(RateLimitItemPerHour(self.limits.sessions_per_address), "address", address):
            raise RequestError(429, "too many new sessions from your address in this hour; try again later")
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        with Session(self.engine) as session:
            user = UserRow(token_hash=_digest(token), name="", began=now())
            session.add(user)
            session.commit()
            return user.id, token

    def name(self, user_id: int | None) -> str:
        """The user's name, empty if none is set."""
        if user_id is None:
            return ""
        with Session(self.engine) as session:
            return session.scalar(select(UserRow.name).where(UserRow.id == user_id)) or ""

    def rename(self, user_id: int, name: str) -> str:
        """Set the cleaned name and return it. Raises a 422 if it is empty or too long."""
        clean = clean_name(name)
        if not 1 <= len(clean) <= _MAX_NAME:
            raise RequestError(422, f"name: must have 1 to {_MAX_NAME} printable characters", "name")
        with Session(self.engine) as session, session.begin():
            session.execute(update(UserRow).where(UserRow.id == user_id).values(name=clean))
        return clean


def clean_name(name: str) -> str:
    """`name` in NFKC form, without control, format and unassigned characters, words separated by single spaces.

    A letter keeps at most two combining marks: more would overlap the neighbouring lines.
    """
    kept: list[str] = []
    marks = 0
    for character in unicodedata.normalize("NFKC", name):
        category = unicodedata.category(character)
        marks = marks + 1 if category.startswith("M") else 0
        if category.startswith("Z"):
            kept.append(" ")
        elif not category.startswith("C") and marks <= 2:
            kept.append(character)
    return " ".join("".join(kept).split())


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
