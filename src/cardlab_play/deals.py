"""Deals: all random numbers of a game from one secret seed, and public ids that do not reveal it."""

import hashlib
import hmac
import os
import secrets
from base64 import urlsafe_b64encode
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cardlab.core.options import InvalidOption
from cardlab.games.protocol import Game, States

SEED_BYTES = 48
KEY_BYTES = 32
ID_BYTES = 16
_NUM_CARDS = 52


@dataclass(frozen=True)
class Deal:
    """One deal: `seed` determines the cards and the random numbers of the agents."""

    seed: bytes

    def states(self, game: Game) -> States:
        """[1] the dealt game. SHAKE-256 makes the deck: known cards do not help to compute the others."""
        rng = self._rng(b"cards")
        if len(self.seed) < SEED_BYTES:  # a deal of 0.1
            return game.deal(1, rng)
        words = np.frombuffer(hashlib.shake_256(b"deck" + self.seed).digest(8 * _NUM_CARDS), dtype="<u8")
        return game.deal(1, rng, words.argsort(kind="stable").astype(np.int8)[None])

    def rng(self, number: int, player: int) -> np.random.Generator:
        """The random generator of `player` for the decision after `number` actions."""
        return self._rng(f"{player} {number}".encode())

    def _rng(self, purpose: bytes) -> np.random.Generator:
        return np.random.default_rng(int.from_bytes(hmac.digest(self.seed, purpose, "sha256")))


@dataclass(frozen=True)
class Secret:
    """The server's key. Daily deals and deal ids cannot be predicted without it."""

    key: bytes

    def daily(self, game: str, date: str) -> Deal:
        """The deal of `game` on a date such as 2026-11-21."""
        return Deal(hmac.digest(self.key, f"daily {game} {date}".encode(), "sha384"))

    def deal_id(self, deal: Deal, setting: str) -> str:
        """The public id of `deal` with a `setting` (game, options, seats): a keyed hash of 128 bits."""
        return self._id(b"deal " + deal.seed + setting.encode())

    def address_id(self, address: str) -> str:
        """A keyed hash of a client's address, for the database."""
        return self._id(f"address {address}".encode())

    def _id(self, message: bytes) -> str:
        digest = hmac.digest(self.key, message, "sha256")[:ID_BYTES]
        return urlsafe_b64encode(digest).rstrip(b"=").decode()


def new_seed() -> bytes:
    """The seed of a new random deal."""
    return secrets.token_bytes(SEED_BYTES)


def new_id() -> str:
    """A random id of 128 bits."""
    return secrets.token_urlsafe(ID_BYTES)


def load_secret(path: Path, given: str | None = None) -> Secret:
    """The secret from the text `given`, else from the file `path`. A missing file is created.

    Raises InvalidOption for a file of another length.
    """
    if given:
        return Secret(hashlib.sha256(given.encode()).digest())
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise InvalidOption("play.secret", path, f"a file of {KEY_BYTES} bytes; remove it to create a new secret")
    return Secret(key)
