"""Sessions: who holds a cookie, and the name that they gave themselves."""

import hashlib
import secrets
import threading
import unicodedata
from dataclasses import dataclass, field

from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from cardlab_play.database import Person, now
from cardlab_play.errors import WrongValue

COOKIE = "cardlab_session"
_TOKEN_BYTES = 32
_TOKEN_LENGTH = 43  # of so many bytes in base64 without padding
_MOST_REMEMBERED = 10_000


@dataclass
class People:
    """Sessions by their tokens, of which the database has hashes only."""

    engine: Engine
    name_length: int
    _ids: dict[bytes, int] = field(default_factory=dict[bytes, int], init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def find(self, token: str | None) -> int | None:
        """The person who holds `token`, None for nobody."""
        if token is None or len(token) != _TOKEN_LENGTH:
            return None
        digest = _digest(token)
        with self._lock:
            known = self._ids.get(digest)
        if known is not None:
            return known
        with Session(self.engine) as session:
            found = session.scalar(select(Person.id).where(Person.token_hash == digest))
        if found is not None:
            self._remember(digest, found)
        return found

    def begin(self) -> tuple[int, str]:
        """A new person and the token for their cookie."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        digest = _digest(token)
        with Session(self.engine) as session:
            person = Person(token_hash=digest, name="", began=now())
            session.add(person)
            session.commit()
            number = person.id
        self._remember(digest, number)
        return number, token

    def name(self, person: int | None) -> str:
        """The person's name, empty for one who gave none."""
        if person is None:
            return ""
        with Session(self.engine) as session:
            return session.scalar(select(Person.name).where(Person.id == person)) or ""

    def rename(self, person: int, name: str) -> str:
        """Set the name, cleaned; WrongValue when nothing that can be shown is left or it is too long."""
        clean = clean_name(name)
        if not 1 <= len(clean) <= self.name_length:
            raise WrongValue(f"name: must be 1 to {self.name_length} characters that can be shown", "name")
        with Session(self.engine) as session:
            session.execute(update(Person).where(Person.id == person).values(name=clean))
            session.commit()
        return clean

    def _remember(self, digest: bytes, person: int) -> None:
        with self._lock:
            if len(self._ids) >= _MOST_REMEMBERED:
                self._ids.clear()
            self._ids[digest] = person


def clean_name(name: str) -> str:
    """`name` in one form of Unicode, without control, format and unassigned characters, single spaces between words.

    At most two combining marks stand on one letter: more of them would run over the lines above and below.
    """
    kept: list[str] = []
    marks = 0
    for sign in unicodedata.normalize("NFKC", name):
        category = unicodedata.category(sign)
        marks = marks + 1 if category.startswith("M") else 0
        if category.startswith("Z"):
            kept.append(" ")
        elif not category.startswith("C") and marks <= 2:
            kept.append(sign)
    return " ".join("".join(kept).split())


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
