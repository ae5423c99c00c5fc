"""Sessions: cookie tokens and user names."""

import hashlib
import secrets
import threading
import unicodedata
from dataclasses import dataclass, field

from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from cardlab_play.database import UserRow, now
from cardlab_play.errors import InvalidValue

COOKIE = "cardlab_session"
_TOKEN_BYTES = 32
_TOKEN_LENGTH = 43  # _TOKEN_BYTES in base64 without padding
_MAX_CACHED = 10_000


@dataclass
class SessionStore:
    """Users by their session tokens. The database stores token hashes only."""

    engine: Engine
    name_length: int
    _ids: dict[bytes, int] = field(default_factory=dict[bytes, int], init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def find(self, token: str | None) -> int | None:
        """The user id of `token`, None for an unknown token."""
        if token is None or len(token) != _TOKEN_LENGTH:
            return None
        digest = _digest(token)
        with self._lock:
            known = self._ids.get(digest)
        if known is not None:
            return known
        with Session(self.engine) as session:
            found = session.scalar(select(UserRow.id).where(UserRow.token_hash == digest))
        if found is not None:
            self._cache(digest, found)
        return found

    def create(self) -> tuple[int, str]:
        """A new user: the id and the token for the cookie."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        digest = _digest(token)
        with Session(self.engine) as session:
            user = UserRow(token_hash=digest, name="", began=now())
            session.add(user)
            session.commit()
            user_id = user.id
        self._cache(digest, user_id)
        return user_id, token

    def name(self, user_id: int | None) -> str:
        """The user's name, empty if none is set."""
        if user_id is None:
            return ""
        with Session(self.engine) as session:
            return session.scalar(select(UserRow.name).where(UserRow.id == user_id)) or ""

    def rename(self, user_id: int, name: str) -> str:
        """Set the cleaned name and return it. Raises InvalidValue if it is empty or too long."""
        clean = clean_name(name)
        if not 1 <= len(clean) <= self.name_length:
            raise InvalidValue(f"name: must have 1 to {self.name_length} printable characters", "name")
        with Session(self.engine) as session:
            session.execute(update(UserRow).where(UserRow.id == user_id).values(name=clean))
            session.commit()
        return clean

    def _cache(self, digest: bytes, user_id: int) -> None:
        with self._lock:
            if len(self._ids) >= _MAX_CACHED:
                self._ids.clear()
            self._ids[digest] = user_id


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
